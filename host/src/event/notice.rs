//! What a person is told; and the shape of the verdicts that decide nothing.

use super::{Object, Summary, Verdict};

/// Declares the verdict of an observed event: announced, or not asked for want of trust.
macro_rules! observed {
    ($(#[$doc:meta])* $name:ident with context) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name {
            /// The hooks were told.
            Told {
                /// What they had to add.
                context: Option<String>,
            },
            /// The project is not trusted: no hook was told.
            Untrusted,
        }

        impl Verdict for $name {
            fn summary(&self) -> Summary {
                match self.clone() {
                    Self::Told { context } => Summary { context, ..Summary::default() },
                    Self::Untrusted => {
                        Summary { decision: Some(crate::event::Decision::Untrusted), ..Summary::default() }
                    }
                }
            }

            fn unopposed() -> Self {
                Self::Told { context: None }
            }
        }
    };
    ($(#[$doc:meta])* $name:ident without context) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            /// The hooks were told.
            Told,
            /// The project is not trusted: no hook was told.
            Untrusted,
        }

        impl Verdict for $name {
            fn summary(&self) -> Summary {
                match self {
                    Self::Told => Summary::default(),
                    Self::Untrusted => {
                        Summary { decision: Some(crate::event::Decision::Untrusted), ..Summary::default() }
                    }
                }
            }

            fn unopposed() -> Self {
                Self::Told
            }
        }
    };
}

pub(super) use observed;

/// A person is told something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotificationInput {
    /// What.
    pub message: String,
}

impl NotificationInput {
    /// The payload for hooks: `{message}`.
    pub fn payload(&self) -> Object {
        Object::from_iter([("message".to_owned(), self.message.as_str().into())])
    }
}

observed! {
    /// The hooks were told what a person was told; nobody reads their answer.
    Notification without context
}
