//! The real program on a display of its own, with a mouse, keys and a window manager, as tests of the window drive it.
//!
//! Needs Xvfb, openbox, xdotool and ImageMagick's `import`.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use serde_json::Value;

/// A software adapter on a busy machine takes its time.
const PATIENCE: Duration = Duration::from_secs(120);

/// What of the tools is not there.
fn missing_tools() -> Vec<&'static str> {
    let found = |tool: &&str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(tool).is_file())
    };
    ["Xvfb", "openbox", "xdotool", "import"].into_iter().filter(|tool| !found(tool)).collect()
}

/// A process that ends with the test.
pub struct Owned(Child);

impl Drop for Owned {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A display with a window manager.
pub struct Display {
    name: String,
    /// Where the program runs and keeps its state.
    pub folder: PathBuf,
    _manager: Owned,
    _server: Owned,
}

impl Display {
    /// A new display.
    pub fn open() -> Self {
        static DISPLAYS: AtomicU32 = AtomicU32::new(0);
        let number = DISPLAYS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("kintsugi-window-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // The server picks a free number itself and writes it to the descriptor that it is told.
        let numbers = folder.join("display");
        let script = format!("exec Xvfb -displayfd 3 -screen 0 1400x900x24 3>'{}'", numbers.display());
        let server = Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).spawn().unwrap();
        let server = Owned(server);
        let name = wait("the display's number", || {
            let text = std::fs::read_to_string(&numbers).ok()?;
            text.ends_with('\n').then(|| format!(":{}", text.trim()))
        });
        let manager = Command::new("openbox").env("DISPLAY", &name).stderr(Stdio::null()).spawn().unwrap();
        let display = Self { name, folder, _manager: Owned(manager), _server: server };
        // A window that is mapped before the manager is there may be left iconified by it.
        wait("the window manager", || {
            let mut ask = Command::new("xdotool");
            let output = ask.arg("get_desktop").env("DISPLAY", &display.name).output().unwrap();
            output.status.success().then_some(())
        });
        display
    }

    pub fn tool(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program).args(arguments).env("DISPLAY", &self.name).output().unwrap();
        assert!(
            output.status.success(),
            "{program} {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Starts the program as it is shipped.
    pub fn start(&self, name: &str, arguments: &[&str]) -> Program<'_> {
        self.start_by(Command::new(env!("CARGO_BIN_EXE_kintsugi")), name, arguments)
    }

    /// Starts a program that takes the same arguments.
    pub fn start_by(&self, mut command: Command, name: &str, arguments: &[&str]) -> Program<'_> {
        let (state_path, start) = (self.folder.join(format!("{name}.json")), Instant::now());
        let child = command
            .args(arguments)
            .args(["--size", "1280x800", "--state-file"])
            .arg(&state_path)
            .env("DISPLAY", &self.name)
            .env("XDG_STATE_HOME", &self.folder)
            .env_remove("WAYLAND_DISPLAY")
            .current_dir(&self.folder)
            .spawn()
            .unwrap();
        let (window, soon) = (String::new(), LEAST_SOON);
        let mut program = Program { display: self, state_path, child: Owned(child), window, soon };
        program.until("an object", |s| {
            s["ready"] == true && s["busy"] == false && s["bodies"].as_u64() > Some(0)
        });
        program.window = wait("the window", || {
            // It fails as long as there is no such window.
            let search = ["search", "--onlyvisible", "--name", "^Kintsugi"];
            let output = Command::new("xdotool").args(search).env("DISPLAY", &self.name).output().unwrap();
            let ids = String::from_utf8_lossy(&output.stdout).into_owned();
            ids.lines().last().map(str::to_owned)
        });
        self.tool("xdotool", &["windowactivate", "--sync", &program.window]);
        program.soon = LEAST_SOON.max(start.elapsed() / 2);
        program
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

pub fn wait<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The program in its window.
pub struct Program<'a> {
    pub display: &'a Display,
    state_path: PathBuf,
    child: Owned,
    pub window: String,
    /// What [`Program::soon`] waits.
    soon: Duration,
}

/// What a quiet machine needs for anything that is shown at once; a busy one starts late, too.
const LEAST_SOON: Duration = Duration::from_millis(1500);

impl Program<'_> {
    /// What it says of itself.
    pub fn state(&self) -> Option<Value> {
        serde_json::from_str(&std::fs::read_to_string(&self.state_path).ok()?).ok()
    }

    /// Whether it has not ended.
    pub fn is_running(&mut self) -> bool {
        self.child.0.try_wait().unwrap().is_none()
    }

    /// Waits until it has ended; its exit code.
    pub fn ended(&mut self) -> Option<i32> {
        let child = &mut self.child.0;
        wait("the end of the program", || child.try_wait().unwrap()).code()
    }

    /// Sends it a signal of this name.
    pub fn signal(&self, name: &str) {
        let id = self.child.0.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Resident memory, KiB; 0 where the system does not tell.
    pub fn resident_kib(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.child.0.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse().ok()).unwrap_or(0)
    }

    /// Waits until it says something.
    pub fn until(&mut self, what: &str, mut good: impl FnMut(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let state = self.state();
            if let Some(state) = state.as_ref().filter(|s| good(s)) {
                return state.clone();
            }
            if let Some(status) = self.child.0.try_wait().unwrap() {
                panic!("the program ended with {status} before {what}");
            }
            assert!(start.elapsed() < PATIENCE, "waited too long for {what}; the state is {state:#?}");
            std::thread::sleep(Duration::from_millis(40));
        }
    }

    /// Whether it says something within a second and a half, or half the time that it took to start.
    pub fn soon(&mut self, mut good: impl FnMut(&Value) -> bool) -> bool {
        let start = Instant::now();
        while start.elapsed() < self.soon {
            if self.state().is_some_and(|state| good(&state)) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(40));
        }
        false
    }

    pub fn xdotool(&self, arguments: &[&str]) {
        self.display.tool("xdotool", arguments);
    }

    /// Moves the pointer there.
    pub fn point(&self, x: f64, y: f64) {
        let (x, y) = (x.round().to_string(), y.round().to_string());
        self.xdotool(&["mousemove", "--sync", "--window", &self.window, &x, &y]);
        std::thread::sleep(Duration::from_millis(150));
    }

    /// Drags a named slider from 0.3 of its width to each of these shares of its width in turn.
    pub fn slide(&self, name: &str, shares: &[f64]) {
        let [x, y, w, h] = rect(&self.state().unwrap(), name);
        self.point(x + w * 0.3, y + h / 2.0);
        self.xdotool(&["mousedown", "1"]);
        for share in shares {
            self.point(x + w * share, y + h / 2.0);
        }
        self.xdotool(&["mouseup", "1"]);
    }

    pub fn keys(&self, keys: &str) {
        self.xdotool(&["key", keys]);
    }

    /// Pixels of the window round a place, RGB.
    pub fn pixels(&self, [x, y]: [f64; 2], half: f64) -> Vec<u8> {
        let path = self.display.folder.join("shot.ppm");
        let crop = format!("{0}x{0}+{1}+{2}", 2.0 * half, (x - half).round(), (y - half).round());
        let file = path.to_string_lossy().into_owned();
        let arguments = ["-silent", "-window", &self.window, "-crop", &crop, "-depth", "8", &file];
        self.display.tool("import", &arguments);
        let bytes = std::fs::read(&path).unwrap();
        let body = (4.0 * half * half * 3.0) as usize;
        assert!(bytes.len() >= body, "the shot holds {} bytes", bytes.len());
        bytes[bytes.len() - body..].to_vec()
    }

    /// Clicks in the middle of a named widget.
    pub fn press(&self, name: &str) {
        // A panel finds its place, and grows, within a frame or two.
        std::thread::sleep(Duration::from_millis(600));
        let [x, y, w, h] = rect(&self.state().unwrap(), name);
        self.point(x + w / 2.0, y + h / 2.0);
        self.xdotool(&["click", "1"]);
    }

    /// Writes `text` into a named field, until the state says that it is there: on a busy machine keys come before
    /// the frame in which the field gets them, and go elsewhere.
    fn write(&mut self, name: &str, text: &str, written: impl Fn(&Value) -> &Value) {
        const TRIES: u32 = 5;
        for _ in 0..TRIES {
            self.press(name);
            std::thread::sleep(Duration::from_secs(1));
            self.keys("ctrl+a");
            self.xdotool(&["type", "--delay", "40", text]);
            if self.soon(|state| written(state) == text) {
                return;
            }
        }
        panic!("{name} does not hold {text} after {TRIES} tries");
    }

    /// Opens the export panel and names the folder in it.
    pub fn open_export(&mut self, name: &str) -> PathBuf {
        self.keys("ctrl+e");
        self.until("the export panel", |s| s["rects"]["export_folder"].is_array());
        let folder = self.display.folder.join(name);
        self.write("export_folder", &folder.to_string_lossy(), |s| &s["export"]["folder"]);
        folder
    }

    /// Exports what is shown to a folder of this name, as GLB and PLY, by the export panel. Gives the folder and the
    /// state when that is done.
    pub fn export(&mut self, name: &str) -> (PathBuf, Value) {
        let folder = self.open_export(name);
        self.press("export_ply");
        self.until("a second format", |s| s["export"]["formats"] == serde_json::json!(["glb", "ply"]));
        self.press("export_go");
        (folder, self.until("the exported pieces", |s| s["export"]["done"].is_object()))
    }

    /// Exports what is shown as GLB with its bonds, for Blender.
    pub fn export_bonds(&mut self, name: &str) -> (PathBuf, Value) {
        let folder = self.open_export(name);
        self.press("export_handover");
        self.until("the options for other programs", |s| s["rects"]["export_bonds"].is_array());
        self.press("export_target");
        self.until("the targets", |s| s["rects"]["export_target: Blender"].is_array());
        self.press("export_target: Blender");
        self.until("the chosen target", |s| s["rects"]["export_target: Blender"].is_null());
        self.press("export_bonds");
        self.until("the strength of the bonds", |s| s["rects"]["export_strength"].is_array());
        // The panel grows while it unfolds, and takes the button along.
        for _ in 0..5 {
            self.press("export_go");
            if self.soon(|s| !s["export"]["running"].is_null() || s["export"]["done"].is_object()) {
                break;
            }
        }
        (folder, self.until("the exported pieces", |s| s["export"]["done"].is_object()))
    }

    /// Asks the window manager to close the window, as its button does; the program must end by itself and well.
    pub fn close(mut self) {
        self.xdotool(&["windowactivate", "--sync", &self.window]);
        self.keys("alt+F4");
        let child = &mut self.child.0;
        let status = wait("the end of the program", || child.try_wait().unwrap());
        assert_eq!(status.code(), Some(0), "the program ended with {status}");
    }
}

pub fn pair(value: &Value) -> [f64; 2] {
    [value[0].as_f64().unwrap(), value[1].as_f64().unwrap()]
}

pub fn rect(state: &Value, name: &str) -> [f64; 4] {
    let r = &state["rects"][name];
    [0, 1, 2, 3].map(|i| r[i].as_f64().unwrap_or_else(|| panic!("no rectangle {name}")))
}

pub fn changed(a: &[u8], b: &[u8]) -> f64 {
    let differs = a.iter().zip(b).filter(|(a, b)| a.abs_diff(**b) > 12).count();
    differs as f64 / a.len() as f64
}

/// The line that says what is missing, where something is.
pub fn want_of_tools() -> Option<String> {
    let missing = missing_tools();
    let line = || {
        format!(
            "{} missing; on Debian or Ubuntu: apt-get install xvfb openbox xdotool imagemagick",
            missing.join(", ")
        )
    };
    (!missing.is_empty()).then(line)
}
