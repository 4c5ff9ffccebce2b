//! Slow periods: of the intervals that incidents are found among, or from a reading of their own.

use std::sync::Arc;

use ctf_reader::{Progress, Report, Window};

use crate::finding::Span;
use crate::groups::group::{Extra, Figures, Group, Sort};
use crate::groups::summary::{GROUP_CAP, Summary};
use crate::intervals::{Feed, Interval, IntervalKinds, IntervalName, Listener, Scene};
use crate::outliers::verdict::{Courses, Period, Resolution, Rule, Series, judge_summary};
use crate::reading::{Angle, Failure, Selection, SourceWindow, grown};
use crate::source::Readers;

/// The number of places for intervals that are alike.
const ALIKE: usize = 256;

/// A slow period that lost less than this, in nanoseconds, is not reported.
const LEAST_LOSS_NS: u128 = 1_000_000;

/// The slow periods, from a reading of their own.
pub fn slow_periods(
    mut readers: Readers<'_>,
    window: Window,
    selection: &Arc<Selection>,
    angle: &Angle,
) -> Result<Vec<Period>, Failure> {
    let selection = angle.selection(selection, Selection::of_any_duration);
    let mut input =
        SourceWindow { source: &mut readers, window: angle.judged, progress: &Progress::default() };
    let courses = Courses::read(&mut input, &selection, GROUP_CAP)?;
    Ok(costly(courses.judged(&Rule::default()).periods, window))
}

/// The periods that lost at least [`LEAST_LOSS_NS`], and overlap the window.
pub fn costly(mut periods: Vec<Period>, window: Window) -> Vec<Period> {
    periods.retain(|period| {
        let span = Span { begin_ns: period.begin_ns, end_ns: period.end_ns };
        period.lost.0 >= LEAST_LOSS_NS && span.is_in(window)
    });
    periods
}

/// The course over time of the intervals and sums of each name. It shares no line of the cache with what another thread
/// uses meanwhile.
#[repr(align(128))]
pub struct IntervalCourses {
    resolution: Resolution,
    /// The last ones, which are not in their courses yet, each in the place that its name and length have.
    alike: Box<[Option<Alike>; ALIKE]>,
    /// By the number of the name.
    courses: Vec<Option<Box<Course>>>,
    /// The number of names with keys.
    keyed: usize,
    /// Whether there were too many names.
    is_full: bool,
}

/// Intervals of a name that are equally long, and end in the same bin of time.
#[derive(Clone, Copy, Debug)]
struct Alike {
    name: IntervalName,
    ticks: u64,
    bin: u64,
    /// When one of them ended.
    end: i64,
    count: u64,
}

struct Course {
    name: IntervalName,
    figures: Figures,
    series: Series,
}

impl IntervalCourses {
    pub fn new(resolution: Resolution) -> Self {
        let alike = Box::new([None; ALIKE]);
        IntervalCourses { resolution, alike, courses: Vec::new(), keyed: 0, is_full: false }
    }

    #[inline]
    fn take(&mut self, interval: &Interval, kinds: &IntervalKinds) {
        let name = interval.name;
        let Some(place) = name.place().filter(|_| !self.is_full) else {
            self.is_full = true;
            return;
        };
        let Some(unit) = kinds.of(name).kind.unit else { return };
        let ticks = unit.ticks(interval.length().max(0) as u64);
        let (end, bin) = (interval.end, self.resolution.bin(interval.end));
        match &mut self.alike[(place << 2).wrapping_add(ticks as usize) % ALIKE] {
            Some(like) if (like.name, like.ticks, like.bin) == (name, ticks, bin) => like.count += 1,
            other => {
                if let Some(full) = other.replace(Alike { name, ticks, bin, end, count: 1 }) {
                    self.record(full, kinds);
                }
            }
        }
    }

    /// Adds intervals to their course.
    #[inline(never)]
    fn record(&mut self, Alike { name, ticks, end, count, .. }: Alike, kinds: &IntervalKinds) {
        let Some(place) = name.place() else { return };
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
    pub fn periods(mut self, feed: &Feed, report: &Report, window: Window) -> Option<Vec<Period>> {
        let lexicon = feed.lexicon();
        for place in 0..ALIKE {
            self.alike[place].take().into_iter().for_each(|last| self.record(last, &lexicon.kinds));
        }
        if self.is_full || feed.is_stricter() {
            return None;
        }
        let group = |course: Box<Course>| {
            let Course { name, figures, mut series } = *course;
            series.finish(&self.resolution);
            let (kind, key) = (&lexicon.kinds.of(name).kind, lexicon.key_bytes(name)?);
            Some((Group { kind: Arc::clone(kind), key_bytes: key.into(), figures }, series))
        };
        let groups: Option<Vec<(Group, Series)>> = self.courses.into_iter().flatten().map(group).collect();
        let summary = Summary::new(report.clone(), groups?, Sort::Total, Vec::new());
        Some(costly(judge_summary(&summary, None, &Rule::default()).periods, window))
    }
}

/// Listens for another listener, and notes the courses of what that hears of if there is anything to note them in.
pub struct WithCourses<'a, L> {
    pub listener: &'a mut L,
    pub courses: Option<&'a mut IntervalCourses>,
}

impl<L: Listener> Listener for WithCourses<'_, L> {
    #[inline]
    fn event(&mut self, process: usize, time: i64) {
        self.listener.event(process, time);
    }

    #[inline]
    fn ended(&mut self, thread: usize, interval: Interval, scene: &Scene) {
        if let Some(courses) = &mut self.courses {
            courses.take(&interval, &scene.kinds);
        }
        self.listener.ended(thread, interval, scene);
    }

    #[inline]
    fn summed(&mut self, thread: usize, sum: Interval, scene: &Scene) {
        if let Some(courses) = &mut self.courses {
            courses.take(&sum, &scene.kinds);
        }
        self.listener.summed(thread, sum, scene);
    }

    fn untraced(&mut self, threads: &mut dyn Iterator<Item = usize>, since: i64, until: i64) {
        self.listener.untraced(threads, since, until);
    }

    fn lost(&mut self, threads: &mut dyn Iterator<Item = usize>, since: i64, until: i64) {
        self.listener.lost(threads, since, until);
    }
}
