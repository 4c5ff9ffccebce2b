//! Slow periods: of the intervals that incidents are found among, or from a reading of their own.

use std::sync::Arc;

use ctf_reader::{Report, Window};

use super::lengths::Alike;
use crate::finding::Span;
use crate::groups::group::{Extra, Figures, Group, Sort};
use crate::groups::summary::{GROUP_CAP, Summary};
use crate::intervals::{Feed, IntervalKinds, IntervalName};
use crate::outliers::verdict::{CourseReading, Courses, Period, Resolution, Rule, Series, judge_summary};
use crate::parallel::change_in_parallel;
use crate::reading::{Angle, Failure, Selection, SourceWindow, grown};
use crate::source::Source;

/// A slow period that lost less than this, in nanoseconds, is not reported.
const LEAST_LOSS_NS: u128 = 1_000_000;

/// How the courses are read that slow periods are found in.
pub fn courses_of_periods<S: Source>(
    all: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    angle: &Angle,
) -> Result<CourseReading, Failure> {
    CourseReading::new(all, angle.selection(selection, Selection::of_any_duration), GROUP_CAP)
}

/// The slow periods of courses that overlap the window.
pub fn slow_periods(courses: &Courses, window: Window) -> Vec<Period> {
    costly(courses.judged(&Rule::default()).periods, window)
}

/// The periods that lost at least [`LEAST_LOSS_NS`], and overlap the window.
pub fn costly(mut periods: Vec<Period>, window: Window) -> Vec<Period> {
    periods.retain(|period| {
        let span = Span { begin_ns: period.begin_ns, end_ns: period.end_ns };
        period.lost.0 >= LEAST_LOSS_NS && span.is_in(window)
    });
    periods
}

/// The course over time of the intervals and sums of each name.
pub struct IntervalCourses {
    resolution: Resolution,
    /// By the number of the name.
    courses: Vec<Option<Box<Course>>>,
    /// The number of names with keys.
    keyed: usize,
    /// Whether there were too many names.
    is_full: bool,
}

struct Course {
    name: IntervalName,
    figures: Figures,
    series: Series,
}

impl IntervalCourses {
    pub fn new(resolution: Resolution) -> Self {
        IntervalCourses { resolution, courses: Vec::new(), keyed: 0, is_full: false }
    }

    /// The bin that a time is in.
    #[inline]
    pub fn bin(&self, time: i64) -> u64 {
        self.resolution.bin(time)
    }

    /// Adds intervals to the course of their name.
    pub fn record(&mut self, &Alike { name, length, end, count, .. }: &Alike, kinds: &IntervalKinds) {
        let Some(place) = name.place().filter(|_| !self.is_full) else {
            self.is_full = true;
            return;
        };
        let Some(unit) = kinds.of(name).kind.unit else { return };
        let ticks = unit.ticks(length.max(0) as u64);
        let course = match grown(&mut self.courses, place) {
            Some(course) => course,
            new => {
                self.keyed += usize::from(!kinds.of(name).kind.keys.is_empty());
                self.is_full = self.keyed > GROUP_CAP;
                Series::adapt(&mut self.resolution, self.keyed);
                new.insert(Box::new(Course { name, figures: Figures::default(), series: Series::default() }))
            }
        };
        course.series.record_many(end, ticks, count, self.resolution);
        course.figures.record_many(ticks, count);
    }

    /// The slow periods that overlap a window; none if these are not all groups.
    pub fn periods(self, feed: &Feed, report: &Report, window: Window) -> Option<Vec<Period>> {
        let lexicon = feed.lexicon();
        if self.is_full || feed.is_stricter() {
            return None;
        }
        let group = |course: Box<Course>| {
            let Course { name, figures, series } = *course;
            let (kind, key) = (&lexicon.kinds.of(name).kind, lexicon.key_bytes(name)?);
            Some((Group { kind: Arc::clone(kind), key_bytes: key.into(), figures }, series))
        };
        let groups: Option<Vec<(Group, Series)>> = self.courses.into_iter().flatten().map(group).collect();
        let mut groups = groups?;
        change_in_parallel(&mut groups, |(_, series)| series.finish(&self.resolution));
        let summary = Summary::new(report.clone(), groups, Sort::Total, Vec::new());
        Some(costly(judge_summary(&summary, None, &Rule::default()).periods, window))
    }
}
