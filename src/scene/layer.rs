//! An overlay that a view draws over those of other views.
//!
//! In: drawings that include the overlay below. Out: the topmost overlay, with a number that changes as often as it does.

use std::sync::Arc;

use crate::render::Overlay;

/// An overlay, and what it was made from.
pub(super) struct Layer<K> {
    made_of: Option<K>,
    overlay: Option<Arc<Overlay>>,
    revision: u64,
}

impl<K> Default for Layer<K> {
    fn default() -> Self {
        Self { made_of: None, overlay: None, revision: 0 }
    }
}

impl<K: PartialEq> Layer<K> {
    /// The combined overlay; `None` if this view draws nothing.
    pub fn overlay(&self) -> Option<&Arc<Overlay>> {
        self.overlay.as_ref()
    }

    /// Changes whenever the overlay changes.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// This overlay, or that `below` where this view draws nothing, with the revisions of both.
    pub fn over<'a>(&'a self, below: (Option<&'a Overlay>, u64)) -> (Option<&'a Overlay>, u64) {
        (self.overlay.as_deref().or(below.0), below.1 + self.revision)
    }

    /// What the overlay was made from.
    pub fn made_of(&self) -> Option<&K> {
        self.made_of.as_ref()
    }

    /// Notes what the next overlay is made from; false if the present one was made from the same.
    pub fn begin(&mut self, of: K) -> bool {
        let is_due = self.made_of.as_ref() != Some(&of);
        self.made_of = Some(of);
        is_due
    }

    /// Has the next update make the overlay anew.
    pub fn forget(&mut self) {
        self.made_of = None;
    }

    /// Shows an overlay.
    pub fn show(&mut self, made: Overlay) {
        self.overlay = Some(Arc::new(made));
        self.revision += 1;
    }

    /// Shows none.
    pub fn hide(&mut self) {
        self.made_of = None;
        self.revision += u64::from(self.overlay.take().is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overlay_is_made_once_of_the_same_and_lies_over_that_below() {
        let mut layer = Layer::default();
        let below = Overlay::default();
        assert!(layer.begin(1));
        layer.show(Overlay::default());
        assert!(!layer.begin(1), "nothing has changed");
        let (top, revision) = layer.over((Some(&below), 5));
        assert!(std::ptr::eq(top.expect("it is shown"), &**layer.overlay().expect("it is shown")));
        assert_eq!(revision, 6, "the revisions of both");
        layer.hide();
        layer.hide();
        assert_eq!((layer.revision(), layer.made_of()), (2, None), "what is hidden hides no more");
        let (top, revision) = layer.over((Some(&below), 5));
        assert!(std::ptr::eq(top.expect("that below"), &below));
        assert_eq!(revision, 7);
        assert!(layer.begin(1), "it is made anew");
        layer.forget();
        assert!(layer.begin(1), "it was forgotten");
    }
}
