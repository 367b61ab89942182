//! Rules for notifications: delays, reminders and quiet hours.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};
use tidings_api::{Code, NotifySettings, QuietHours};
use tidings_sessions::Error;

use super::item::{Item, Millis};
use crate::limits::{NOTIFY_DELAY_MAX_S, NOTIFY_OFF_MAX, NOTIFY_REMINDERS_MAX};

/// The rules, checked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    settings: NotifySettings,
    quiet: Option<QuietTimes>,
}

#[derive(Debug, Clone)]
struct QuietTimes {
    from: Time,
    to: Time,
    zone: TimeZone,
}

impl Rules {
    /// Checks settings.
    pub(crate) fn new(settings: NotifySettings) -> Result<Self, Error> {
        let wrong = |message: &str, hint: &'static str| Err(Error::new(Code::Invalid, message, hint));
        let latest = settings.reminders_s.iter().copied().max().unwrap_or_default();
        let is_too_late = latest.max(settings.first_after_s) > NOTIFY_DELAY_MAX_S;
        if settings.reminders_s.len() > NOTIFY_REMINDERS_MAX || is_too_late {
            return wrong(
                "There are too many reminders, or one is too late",
                "use at most 10, within a week",
            );
        }
        if !settings.reminders_s.is_sorted() || settings.reminders_s.contains(&0) {
            return wrong("The reminders are not in order", "write the seconds as [60, 300, 1800]");
        }
        if settings.off_sessions.len() > NOTIFY_OFF_MAX || settings.off_kinds.len() > NOTIFY_OFF_MAX {
            return wrong("Too many sessions or kinds are switched off", "switch off the kind instead");
        }
        if settings.coalesce_from < 2 {
            return wrong("`coalesce_from` is too small", "use 2 or more");
        }
        let quiet = settings.quiet.as_ref().map(QuietTimes::new).transpose()?;
        Ok(Rules { settings, quiet })
    }

    /// The settings.
    pub(crate) fn settings(&self) -> &NotifySettings {
        &self.settings
    }

    /// True if an item is never notified.
    pub(super) fn is_off(&self, item: &Item) -> bool {
        self.settings.off_kinds.contains(&item.kind)
            || item.session().is_some_and(|key| self.settings.off_sessions.iter().any(|off| off == key))
    }

    /// The time of an item's next notification.
    pub(super) fn next_due(&self, item: &Item, now: Millis) -> Option<Millis> {
        let Some(first) = item.first_at else {
            return Some(after(item.at.max(0), self.settings.first_after_s));
        };
        let mut due = self.settings.reminders_s.iter().map(|delay| after(first, *delay));
        due.find(|due| *due > now).filter(|_| item.waiting)
    }

    /// The end of the quiet hours, if they are now.
    pub(super) fn quiet_until(&self, now: Millis) -> Option<Millis> {
        self.quiet.as_ref()?.until(now)
    }
}

fn after(at: Millis, seconds: u64) -> Millis {
    at.saturating_add(i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000))
}

impl QuietTimes {
    fn new(hours: &QuietHours) -> Result<Self, Error> {
        let wrong = |message: String, hint: &'static str| Error::new(Code::Invalid, message, hint);
        let time = |text: &str| {
            let parts = text.split_once(':').and_then(|(hour, minute)| {
                Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok().filter(|_| text.len() == 5)
            });
            parts.ok_or_else(|| wrong(format!("Not a time of the day: `{text}`"), "write it as 22:00"))
        };
        let zone = match &hours.zone {
            None => TimeZone::system(),
            Some(name) => TimeZone::get(name).map_err(|_| {
                wrong(format!("There is no time zone `{name}`"), "write it as Europe/Berlin, or leave it out")
            })?,
        };
        let (from, to) = (time(&hours.from)?, time(&hours.to)?);
        if from == to {
            return Err(wrong(
                "The quiet hours begin when they end".to_owned(),
                "leave them out for none at all",
            ));
        }
        Ok(QuietTimes { from, to, zone })
    }

    fn until(&self, now: Millis) -> Option<Millis> {
        let now: Zoned = Timestamp::from_millisecond(now).ok()?.to_zoned(self.zone.clone());
        let time = now.time();
        let is_quiet = if self.from < self.to {
            self.from <= time && time < self.to
        } else {
            self.from <= time || time < self.to
        };
        if !is_quiet {
            return None;
        }
        let day = if time < self.to { now.date() } else { now.date().checked_add(1.day()).ok()? };
        let end = day.to_datetime(self.to).to_zoned(self.zone.clone()).ok()?;
        Some(end.timestamp().as_millisecond())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Millis {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    #[test]
    fn quiet_hours_end_at_their_end_also_over_midnight_and_a_change_of_the_clocks() {
        let quiet = |from: &str, to: &str, zone: &str| {
            let hours = QuietHours { from: from.to_owned(), to: to.to_owned(), zone: Some(zone.to_owned()) };
            Rules::new(NotifySettings { quiet: Some(hours), ..NotifySettings::default() }).unwrap()
        };
        let night = quiet("22:00", "07:00", "UTC");
        for (now, until) in [
            ("2026-03-01T21:59:59Z", None),
            ("2026-03-01T22:00:00Z", Some("2026-03-02T07:00:00Z")),
            ("2026-03-02T06:59:59Z", Some("2026-03-02T07:00:00Z")),
            ("2026-03-02T07:00:00Z", None),
        ] {
            assert_eq!(night.quiet_until(at(now)), until.map(at), "{now}");
        }
        let noon = quiet("12:00", "13:00", "UTC");
        assert_eq!(noon.quiet_until(at("2026-03-01T12:30:00Z")), Some(at("2026-03-01T13:00:00Z")));
        assert_eq!(noon.quiet_until(at("2026-03-01T13:00:00Z")), None);
        // In this night the clocks of Berlin go from 2:00 to 3:00.
        let berlin = quiet("22:00", "07:00", "Europe/Berlin");
        assert_eq!(berlin.quiet_until(at("2026-03-28T22:00:00Z")), Some(at("2026-03-29T05:00:00Z")));
    }

    #[test]
    fn rules_that_make_no_sense_are_refused() {
        let fine = NotifySettings::default();
        assert!(Rules::new(fine.clone()).is_ok());
        let quiet = |from: &str, to: &str, zone: Option<&str>| NotifySettings {
            quiet: Some(QuietHours {
                from: from.to_owned(),
                to: to.to_owned(),
                zone: zone.map(str::to_owned),
            }),
            ..fine.clone()
        };
        for wrong in [
            NotifySettings { reminders_s: vec![300, 60], ..fine.clone() },
            NotifySettings { reminders_s: vec![0], ..fine.clone() },
            NotifySettings { reminders_s: vec![1; 11], ..fine.clone() },
            NotifySettings { first_after_s: u64::MAX, ..fine.clone() },
            NotifySettings { coalesce_from: 1, ..fine.clone() },
            quiet("22:00", "22:00", None),
            quiet("24:00", "07:00", None),
            quiet("9:00", "07:00", None),
            quiet("22:00", "07:00", Some("Atlantis/Centre")),
        ] {
            let refused = Rules::new(wrong.clone());
            assert_eq!(refused.map(|_| ()).map_err(|error| error.code()), Err(Code::Invalid), "{wrong:?}");
        }
    }
}
