//! Messages to the user: errors and what has a button stay until dismissed, other remarks expire.

use std::time::{Duration, Instant};

use crate::ui::{Command, Notice, NoticeKind};

/// Most messages shown at once.
const MOST: usize = 4;
/// Most messages that wait until others are dismissed.
const MOST_WAITING: usize = 100;

/// Messages on display, the oldest first, and those that stay and for which there is no room yet.
#[derive(Default)]
pub(super) struct Messages {
    shown: Vec<Notice>,
    /// Older than those on display; they come back when those are dismissed.
    waiting: Vec<Notice>,
    next: u64,
}

impl Messages {
    /// Shows a message in place of an earlier one with the same text. Where there is no room, the oldest remark makes
    /// way; the oldest message that stays does so only for another one, and comes back.
    pub fn say(&mut self, kind: NoticeKind, text: impl Into<String>) {
        self.show(kind, text.into(), Vec::new());
    }

    /// Shows a message with a button of this label, which gives this command.
    pub fn offer(&mut self, kind: NoticeKind, text: impl Into<String>, label: &str, command: Command) {
        self.show(kind, text.into(), vec![(label.to_owned(), command)]);
    }

    /// Shows a remark with a button for each of several answers: its label and its command.
    pub fn ask(&mut self, text: impl Into<String>, answers: Vec<(String, Command)>) {
        self.show(NoticeKind::Remark, text.into(), answers);
    }

    /// Removes the messages that offer this command, which has been given or means something else now.
    pub fn withdraw(&mut self, command: &Command) {
        let offers = |n: &Notice| n.actions.iter().any(|(_, offered)| offered == command);
        self.waiting.retain(|n| !offers(n));
        self.shown.retain(|n| !offers(n));
        self.fill_up();
    }

    fn show(&mut self, kind: NoticeKind, text: String, actions: Vec<(String, Command)>) {
        self.shown.retain(|n| n.text != text);
        self.waiting.retain(|n| n.text != text);
        self.shown.push(Notice { id: self.next, kind, text, actions, since: Instant::now() });
        self.next += 1;
        if self.shown.len() <= MOST {
            return;
        }
        // Of messages that stay, the last place is for a remark, which says what the last command did.
        let remark = self.shown.iter().position(|n| !n.stays());
        let is_last = remark == Some(MOST);
        match remark {
            Some(remark) if !is_last => drop(self.shown.remove(remark)),
            _ => self.waiting.push(self.shown.remove(0)),
        }
        if self.waiting.len() > MOST_WAITING {
            self.waiting.remove(0);
        }
    }

    /// All messages on display.
    pub fn shown(&self) -> &[Notice] {
        &self.shown
    }

    /// Texts of the messages of one kind.
    pub fn texts(&self, kind: NoticeKind) -> Vec<&str> {
        self.shown.iter().filter(|n| n.kind == kind).map(|n| n.text.as_str()).collect()
    }

    /// Removes a message.
    pub fn dismiss(&mut self, id: u64) {
        self.shown.retain(|n| n.id != id);
        self.fill_up();
    }

    /// Removes expired remarks.
    pub fn expire(&mut self) {
        self.shown.retain(|n| n.stays() || n.since.elapsed().as_secs_f64() < Notice::REMARK_SECS);
        self.fill_up();
    }

    /// Brings waiting messages back where there is room, the newest first.
    fn fill_up(&mut self) {
        while self.shown.len() < MOST
            && let Some(notice) = self.waiting.pop()
        {
            self.shown.insert(0, notice);
        }
    }

    /// When the next remark expires.
    pub fn next_expiry(&self) -> Option<Instant> {
        let remarks = self.shown.iter().filter(|n| !n.stays());
        remarks.map(|n| n.since + Duration::from_secs_f64(Notice::REMARK_SECS)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_few_are_shown_and_nothing_twice() {
        let mut messages = Messages::default();
        for text in ["a", "b", "a", "c", "d", "e"] {
            messages.say(NoticeKind::Error, text);
        }
        assert_eq!(messages.texts(NoticeKind::Error), ["a", "c", "d", "e"]);
        assert!(messages.next_expiry().is_none(), "errors stay");
        messages.say(NoticeKind::Remark, "f");
        messages.expire();
        assert_eq!(messages.texts(NoticeKind::Remark), ["f"]);
        assert!(messages.next_expiry().is_some_and(|at| at > Instant::now()));
        let first = messages.shown()[0].id;
        messages.dismiss(first);
        assert_eq!(messages.texts(NoticeKind::Error), ["a", "d", "e"], "one that waited comes back");
    }

    #[test]
    fn what_has_a_button_stays_until_its_command_is_given() {
        let mut messages = Messages::default();
        messages.offer(NoticeKind::Remark, "the last session", "Reopen", Command::Reopen(0));
        messages.say(NoticeKind::Remark, "saved");
        let long_ago = Instant::now().checked_sub(Duration::from_secs(60)).unwrap();
        messages.shown.iter_mut().for_each(|notice| notice.since = long_ago);
        messages.expire();
        assert_eq!(messages.texts(NoticeKind::Remark), ["the last session"]);
        assert!(messages.next_expiry().is_none(), "no frame is drawn for it");
        for text in ["1", "2", "3", "4"] {
            messages.say(NoticeKind::Error, text);
        }
        messages.dismiss(messages.shown()[0].id);
        assert_eq!(messages.texts(NoticeKind::Remark), ["the last session"], "it comes back");
        messages.withdraw(&Command::Reopen(1));
        assert_eq!(messages.texts(NoticeKind::Remark).len(), 1);
        messages.withdraw(&Command::Reopen(0));
        assert_eq!(messages.texts(NoticeKind::Remark).len(), 0);
    }

    #[test]
    fn remarks_push_out_remarks_and_errors_come_back_until_they_are_dismissed() {
        let mut messages = Messages::default();
        messages.say(NoticeKind::Error, "the scene could not be saved by itself");
        for text in ["a", "b", "c", "d"] {
            messages.say(NoticeKind::Remark, text);
        }
        assert_eq!(messages.texts(NoticeKind::Error).len(), 1);
        assert_eq!(messages.texts(NoticeKind::Remark), ["b", "c", "d"]);
        for text in ["1", "2", "3", "4"] {
            messages.say(NoticeKind::Error, text);
        }
        messages.say(NoticeKind::Remark, "seen beside errors");
        assert_eq!(messages.texts(NoticeKind::Error), ["2", "3", "4"]);
        assert_eq!(messages.texts(NoticeKind::Remark), ["seen beside errors"]);
        let mut seen = Vec::new();
        while let Some(Notice { id, text, .. }) = messages.shown().last().cloned() {
            seen.push(text);
            messages.dismiss(id);
        }
        let wanted = ["seen beside errors", "4", "3", "2", "1", "the scene could not be saved by itself"];
        assert_eq!(seen, wanted);
    }
}
