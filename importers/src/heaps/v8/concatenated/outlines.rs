//! The outlines of concatenated strings, found before the texts are assembled: their lengths, and which are equal.

/// The cost of a flat part besides its bytes, see [`Outlines::limits`].
const COST_OF_PART: u64 = 16;

/// The known extent of a text: its length in bytes, counted up to slightly more than the longest text, and whether
/// the text may continue after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Extent(u32);

impl Extent {
    const GOES_ON: u32 = 1 << 31;

    pub(super) fn new(bytes: usize, goes_on: bool) -> Extent {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(Self::GOES_ON - 1);
        Extent(bytes | if goes_on { Self::GOES_ON } else { 0 })
    }

    fn bytes(self) -> u32 {
        self.0 & !Self::GOES_ON
    }

    pub(super) fn goes_on(self) -> bool {
        self.0 >= Self::GOES_ON
    }

    /// The extent of this text, which is whole, followed by another one.
    fn then(self, other: Extent) -> Extent {
        Extent::new(self.bytes() as usize + other.bytes() as usize, other.goes_on())
    }
}

/// A part of a concatenated string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringPart {
    /// Its text is not in the dump.
    Unknown,
    /// The number of its text.
    Flat(u32, Extent),
    /// Another concatenated string, by its place among them.
    Joined(u32),
}

/// The two parts of a concatenated string.
pub(super) type PartPair = [StringPart; 2];

/// The outlines of the texts, found before they are assembled.
pub(super) struct Outlines {
    /// For each concatenated string, the string whose text it has; [`UNKNOWN`] if that is not known.
    pub(super) sources: Vec<u32>,
    extents: Vec<Extent>,
    /// Number of flat parts that it consists of, from 1; or [`NEW`] or [`OPEN`].
    parts: Vec<u32>,
    /// It is part of another.
    is_part: Vec<bool>,
    /// The strings, parts before wholes.
    order: Vec<u32>,
}

const UNKNOWN: u32 = u32::MAX;
/// Not visited yet, and visited but not finished.
const NEW: u32 = 0;
const OPEN: u32 = u32::MAX;

impl Outlines {
    pub(super) fn find(joined: &[PartPair]) -> Outlines {
        let count = joined.len();
        let mut found = Outlines {
            sources: vec![UNKNOWN; count],
            extents: vec![Extent::default(); count],
            parts: vec![NEW; count],
            is_part: vec![false; count],
            order: Vec::with_capacity(count),
        };
        let mut waiting = Vec::new();
        for place in 0..count {
            waiting.push(place);
            while let Some(&place) = waiting.last() {
                match found.parts[place] {
                    NEW => {
                        found.parts[place] = OPEN;
                        let parts = joined[place].iter().filter_map(|part| match part {
                            StringPart::Joined(part) => Some(*part as usize),
                            _ => None,
                        });
                        waiting.extend(parts.filter(|&part| found.parts[part] == NEW));
                    }
                    OPEN => {
                        found.finish(place, joined[place]);
                        waiting.pop();
                    }
                    _ => _ = waiting.pop(),
                }
            }
        }
        found
    }

    /// Adds the outline of a string whose parts have theirs.
    fn finish(&mut self, place: usize, parts: PartPair) {
        let nothing = Extent::default();
        let (source, extent) = match parts.map(|part| self.extent(part)) {
            [Some(first), _] if first.goes_on() => (self.source(parts[0], place), first),
            [Some(first), Some(second)] if second == nothing => (self.source(parts[0], place), first),
            [Some(first), Some(second)] if first == nothing => (self.source(parts[1], place), second),
            [Some(first), Some(second)] => (place as u32, first.then(second)),
            _ => (UNKNOWN, nothing),
        };
        let [first, second] = parts.map(|part| match part {
            StringPart::Joined(part) => self.parts[part as usize],
            _ => 1,
        });
        self.sources[place] = source;
        self.extents[place] = extent;
        self.parts[place] = first.saturating_add(second).min(OPEN - 1);
        for part in parts {
            if let StringPart::Joined(part) = part {
                self.is_part[part as usize] = true;
            }
        }
        self.order.push(place as u32);
    }

    /// The source of a string at `place` that has the text of this part.
    fn source(&self, part: StringPart, place: usize) -> u32 {
        match part {
            StringPart::Joined(part) => self.sources[part as usize],
            _ => place as u32,
        }
    }

    /// The extent of a part, if its text is known. A part that is still open consists of itself.
    fn extent(&self, part: StringPart) -> Option<Extent> {
        match part {
            StringPart::Unknown => None,
            StringPart::Flat(_, extent) => Some(extent),
            StringPart::Joined(part) => (self.sources[part as usize] != UNKNOWN).then(|| self.extents[part as usize]),
        }
    }

    /// The lengths of texts for which all texts together keep to the budget.
    pub(super) fn limits(&self, joined: &[PartPair], longest: usize, budget: u64) -> Limits {
        let of_wholes = (0..joined.len()).filter(|&place| self.is_whole(place));
        // The path to the first flat part passes through all others.
        let cost = of_wholes.map(|place| self.cost(place, longest) + COST_OF_PART * u64::from(self.parts[place]));
        let cost: u64 = cost.sum();
        let mut limits = Limits { steps: longest, wholes: (cost <= budget / 2).then_some(longest) };
        let left = if limits.wholes.is_some() { budget - cost } else { budget };
        while limits.steps > 1 && self.cost_of_steps(joined, &limits) > left {
            limits.steps /= 2;
        }
        limits
    }

    /// Returns whether a string is its own source and not part of another.
    fn is_whole(&self, place: usize) -> bool {
        !self.is_part[place] && self.sources[place] as usize == place
    }

    fn cost_of_steps(&self, joined: &[PartPair], limits: &Limits) -> u64 {
        let own = (0..joined.len()).filter(|&place| {
            self.sources[place] as usize == place
                && limits.of(self, place).is_none()
                && self.longer_part(joined[place], limits.steps).is_none()
        });
        own.map(|place| self.cost(place, limits.steps)).sum()
    }

    /// The cost of a text that ends at a limit.
    fn cost(&self, place: usize, limit: usize) -> u64 {
        let [bytes, parts] =
            [self.extents[place].bytes(), self.parts[place]].map(|count| u64::from(count).min(limit as u64));
        bytes + COST_OF_PART * parts
    }

    /// The first part of a string, if that alone is longer than `limit`.
    fn longer_part(&self, parts: PartPair, limit: usize) -> Option<u32> {
        let StringPart::Joined(first) = parts[0] else { return None };
        (self.extents[first as usize].bytes() as usize > limit).then_some(first)
    }

    /// The sources of all strings, given that steps end at their limit.
    pub(super) fn cut(&self, limits: &Limits, joined: &[PartPair]) -> Vec<u32> {
        let mut cut = self.sources.clone();
        for &place in &self.order {
            let place = place as usize;
            let source = match cut[place] {
                UNKNOWN => continue,
                source if source as usize != place => source,
                source if limits.of(self, place).is_some() => source,
                source => self.longer_part(joined[place], limits.steps).unwrap_or(source),
            };
            cut[place] = if source as usize == place { source } else { cut[source as usize] };
        }
        cut
    }
}

/// Maximum lengths of texts, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) steps: usize,
    /// For strings that are not part of another one; `None` if those would exceed the budget, and are limited like
    /// steps.
    wholes: Option<usize>,
}

impl Limits {
    /// The limit of a string that has its whole text.
    pub(super) fn of(&self, outlines: &Outlines, place: usize) -> Option<usize> {
        self.wholes.filter(|_| outlines.is_whole(place))
    }
}
