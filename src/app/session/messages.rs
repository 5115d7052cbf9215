//! Messages to the user: errors stay until dismissed, remarks expire.

use std::time::{Duration, Instant};

use crate::ui::{Notice, NoticeKind};

/// Most messages shown at once.
const MOST: usize = 4;
/// Most errors that wait until others are dismissed.
const MOST_WAITING: usize = 100;

/// Messages on display, the oldest first, and errors for which there is no room yet.
#[derive(Default)]
pub(super) struct Messages {
    shown: Vec<Notice>,
    /// Errors older than those on display; they come back when those are dismissed.
    waiting: Vec<Notice>,
    next: u64,
}

impl Messages {
    /// Shows a message in place of an earlier one with the same text. Where there is no room, the oldest remark makes
    /// way; the oldest error does so only for another error, and comes back.
    pub fn say(&mut self, kind: NoticeKind, text: impl Into<String>) {
        let text = text.into();
        self.shown.retain(|n| n.text != text);
        self.waiting.retain(|n| n.text != text);
        self.shown.push(Notice { id: self.next, kind, text, since: Instant::now() });
        self.next += 1;
        if self.shown.len() <= MOST {
            return;
        }
        // Of errors alone, the last place is for a remark, which says what the last command did.
        let remark = self.shown.iter().position(|n| n.kind == NoticeKind::Remark);
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
        let fresh =
            |n: &Notice| n.kind == NoticeKind::Error || n.since.elapsed().as_secs_f64() < Notice::REMARK_SECS;
        self.shown.retain(fresh);
        self.fill_up();
    }

    /// Brings waiting errors back where there is room, the newest first.
    fn fill_up(&mut self) {
        while self.shown.len() < MOST
            && let Some(error) = self.waiting.pop()
        {
            self.shown.insert(0, error);
        }
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
        assert_eq!(messages.texts(NoticeKind::Error), ["a", "d", "e"], "one that waited comes back");
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
