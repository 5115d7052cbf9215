//! Messages to the user: errors stay until dismissed, remarks expire.

use std::time::{Duration, Instant};

use crate::ui::{Notice, NoticeKind};

/// Most messages shown at once.
const MOST: usize = 4;

/// Messages on display, the oldest first.
#[derive(Default)]
pub(super) struct Messages {
    shown: Vec<Notice>,
    next: u64,
}

impl Messages {
    /// Shows a message in place of an earlier one with the same text.
    pub fn say(&mut self, kind: NoticeKind, text: impl Into<String>) {
        let text = text.into();
        self.shown.retain(|n| n.text != text);
        self.shown.push(Notice { id: self.next, kind, text, since: Instant::now() });
        self.next += 1;
        if self.shown.len() > MOST {
            self.shown.remove(0);
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
    }

    /// Removes expired remarks.
    pub fn expire(&mut self) {
        let fresh =
            |n: &Notice| n.kind == NoticeKind::Error || n.since.elapsed().as_secs_f64() < Notice::REMARK_SECS;
        self.shown.retain(fresh);
    }

    /// When the next remark expires.
    pub fn next_expiry(&self) -> Option<Instant> {
        let remarks = self.shown.iter().filter(|n| n.kind == NoticeKind::Remark);
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
        assert_eq!(messages.texts(NoticeKind::Error), ["d", "e"]);
    }
}
