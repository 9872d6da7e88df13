//! The layout of objects in the JVM. Dumps do not record it, so it is derived from the addresses of objects.
//!
//! ```text
//!   object   mark word · class pointer · fields, packed                 up to the alignment
//!   array    mark word · class pointer · length u4 · elements           up to the alignment
//! ```
//!
//! The next object usually follows an array directly. So the distance of neighbours is the size of an array whose
//! number of elements is known, which determines the widths of references and headers.
//!
//! Sources: HotSpot's `arrayOop.hpp`, `fieldLayoutBuilder.cpp` (from JDK 15 on) and the
//! `classFileParser.cpp` of the versions before.

use std::fmt;
use std::str::FromStr;

use super::records::{FieldType, SubRecord, SubRecords};

/// The layout of objects in a JVM's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectLayout {
    /// A reference in a field or an array: 4 (32 bits, or compressed) or 8.
    pub reference_bytes: u8,
    /// The bytes before the fields: 8, 12 or 16.
    pub header_bytes: u8,
    /// The bytes before the elements of an array that are at most 4 bytes wide: 12, 16, 20 or 24. Wider
    /// ones begin at the next multiple of 8.
    pub array_base_bytes: u8,
    /// Objects take a multiple of this: a power of two, at least 8.
    pub alignment_bytes: u16,
}

impl ObjectLayout {
    const fn new(reference_bytes: u8, header_bytes: u8, array_base_bytes: u8) -> Self {
        ObjectLayout { reference_bytes, header_bytes, array_base_bytes, alignment_bytes: 8 }
    }

    /// The possible layouts for a width of identifiers, the most common first.
    fn candidates(id_bytes: u8) -> &'static [ObjectLayout] {
        const NARROW: &[ObjectLayout] = &[ObjectLayout::new(4, 8, 12)];
        const WIDE: &[ObjectLayout] = &[
            // Compressed references and class pointers, the default below 32 GB.
            ObjectLayout::new(4, 12, 16),
            // The default above.
            ObjectLayout::new(8, 12, 16),
            ObjectLayout::new(8, 16, 24),
            // Since JDK 23.
            ObjectLayout::new(8, 16, 20),
            // Compact headers, since JDK 24.
            ObjectLayout::new(4, 8, 12),
            ObjectLayout::new(8, 8, 12),
            ObjectLayout::new(4, 16, 24),
            ObjectLayout::new(4, 16, 20),
        ];
        if id_bytes == 4 { NARROW } else { WIDE }
    }

    /// The size of an array.
    pub(super) fn array_bytes(&self, element: FieldType, count: u64) -> u64 {
        let element_bytes = u64::from(element.bytes(self.reference_bytes));
        let base = u64::from(self.array_base_bytes);
        let base = if element_bytes == 8 { base.next_multiple_of(8) } else { base };
        self.aligned(base + count * element_bytes)
    }

    /// The size of an instance with `field_bytes` of fields.
    pub(super) fn instance_bytes(&self, field_bytes: u64) -> u64 {
        self.aligned(u64::from(self.header_bytes) + field_bytes)
    }

    /// A size, rounded up to the alignment.
    pub(super) fn aligned(&self, bytes: u64) -> u64 {
        bytes.next_multiple_of(self.alignment_bytes.into())
    }
}

impl fmt::Display for ObjectLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ObjectLayout { reference_bytes, header_bytes, array_base_bytes, alignment_bytes } = self;
        write!(f, "{reference_bytes},{header_bytes},{array_base_bytes},{alignment_bytes}")
    }
}

impl FromStr for ObjectLayout {
    type Err = String;

    /// Four numbers: reference, header, array base, alignment; in bytes.
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Vec<u16> = text.split(',').filter_map(|number| number.trim().parse().ok()).collect();
        let &[reference @ (4 | 8), header @ (8 | 12 | 16), base @ (12 | 16 | 20 | 24), alignment] = &numbers[..] else {
            return Err("an object layout is REFERENCE,HEADER,ARRAY_BASE,ALIGNMENT in bytes: 4|8, 8|12|16, \
                        12|16|20|24 and a power of two from 8 on; for example 4,12,16,8"
                .to_owned());
        };
        if !alignment.is_power_of_two() || !(8..=256).contains(&alignment) {
            return Err(format!("an alignment is a power of two from 8 to 256, not {alignment}"));
        }
        let mut layout = ObjectLayout::new(reference as u8, header as u8, base as u8);
        layout.alignment_bytes = alignment;
        Ok(layout)
    }
}

/// Collects evidence of the layout of objects.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// Element type and length of arrays, with the distance to the next object.
    arrays: Vec<(FieldType, u32, u64)>,
    /// The bits set in any address.
    address_bits: u64,
}

/// Number of arrays that suffices to decide.
const ENOUGH_ARRAYS: usize = 20_000;

impl Evidence {
    /// Looks at the objects of these sub-records, of which the last may be cut.
    pub(super) fn look<const ID: usize>(&mut self, bytes: &[u8]) {
        let mut parts = SubRecords::<ID>::new(bytes);
        let mut last: Option<(FieldType, u32, u64)> = None;
        while self.arrays.len() < ENOUGH_ARRAYS
            && let Ok(Some(part)) = parts.next()
        {
            let (address, array) = match part {
                SubRecord::Instance { address, .. } => (address, None),
                SubRecord::ObjectArray { address, elements, .. } => {
                    (address, Some((FieldType::Reference, (elements.len() / ID) as u32)))
                }
                SubRecord::PrimitiveArray { address, element, count, .. } => (address, Some((element, count))),
                _ => continue,
            };
            self.address_bits |= address;
            if let Some((element, count, before)) = last
                && address > before
            {
                self.arrays.push((element, count, address - before));
            }
            last = array.map(|(element, count)| (element, count, address));
        }
    }

    /// The layout that explains most arrays, and whether it explains any. Without neighbours, addresses alone do not
    /// determine the alignment: objects may be far apart.
    pub(super) fn decide(&self, id_bytes: u8) -> (ObjectLayout, bool) {
        let alignment_bytes = match self.address_bits {
            0 => 8,
            // `ObjectAlignmentInBytes` is an option of JVMs of 64 bits only.
            _ if id_bytes == 4 => 8,
            bits => 1 << bits.trailing_zeros().clamp(3, 8),
        };
        let mut best = (ObjectLayout::candidates(id_bytes)[0], 0);
        for candidate in ObjectLayout::candidates(id_bytes) {
            let layout = ObjectLayout { alignment_bytes, ..*candidate };
            let arrays = self.arrays.iter();
            let votes = arrays.filter(|array| layout.array_bytes(array.0, array.1.into()) == array.2).count();
            if votes > best.1 {
                best = (layout, votes);
            }
        }
        (best.0, best.1 > 0)
    }
}

/// The end of the fields of a class, and the gaps before it.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    end: u64,
    /// Start and length of gaps, which later fields may fill.
    gaps: Vec<(u64, u64)>,
}

/// HotSpot's `ContendedPaddingWidth`.
const CONTENDED_PADDING_BYTES: u64 = 128;

/// The algorithm that packs fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// Up to JDK 14: gaps are filled within a class, and only before its 8-byte fields.
    Classic,
    /// From JDK 15 on: gaps of superclasses are filled as well.
    Gaps,
}

impl Fields {
    /// The fields of a class without fields and superclass.
    pub(super) fn none(layout: &ObjectLayout) -> Self {
        Fields { end: layout.header_bytes.into(), gaps: Vec::new() }
    }

    /// Adds the fields that a class declares, of which only the widths matter.
    pub(super) fn add(&mut self, fields: impl Iterator<Item = FieldType>, layout: &ObjectLayout, packing: Packing) {
        // Primitive fields of 8, 4, 2 and 1 bytes.
        let (mut primitives, mut references) = ([0_u32; 4], 0);
        for field in fields {
            match field {
                FieldType::Reference => references += 1,
                other => primitives[3 - other.bytes(0).trailing_zeros() as usize] += 1,
            }
        }
        let reference_bytes = u64::from(layout.reference_bytes);
        if packing == Packing::Classic {
            self.gaps.clear();
            self.end = self.end.next_multiple_of(reference_bytes);
            if primitives[0] > 0 {
                self.fill_before_wide(&mut primitives, &mut references, reference_bytes);
            }
        }
        for (count, bytes) in primitives.into_iter().zip([8, 4, 2, 1]) {
            (0..count).for_each(|_| self.place(bytes));
        }
        (0..references).for_each(|_| self.place(reference_bytes));
    }

    /// Adds fields with padding on both sides. Gaps that were free before stay free.
    pub(super) fn add_apart(&mut self, fields: &[FieldType], layout: &ObjectLayout, packing: Packing) {
        if !fields.is_empty() {
            self.end = (self.end + CONTENDED_PADDING_BYTES).next_multiple_of(8);
            self.gaps.clear();
            self.add(fields.iter().copied(), layout, packing);
            self.gaps.clear();
            self.end += CONTENDED_PADDING_BYTES;
        }
    }

    /// The size of an instance.
    pub(super) fn instance_bytes(&self, layout: &ObjectLayout) -> u64 {
        layout.aligned(self.end)
    }

    /// Fills the gap before 8-byte fields, the widest fields first.
    fn fill_before_wide(&mut self, primitives: &mut [u32; 4], references: &mut u32, reference_bytes: u64) {
        let wide_start = self.end.next_multiple_of(8);
        for (at, bytes) in [(1, 4), (2, 2), (3, 1)] {
            while primitives[at] > 0 && self.end + bytes <= wide_start {
                primitives[at] -= 1;
                self.end += bytes;
            }
        }
        if *references > 0 && self.end.next_multiple_of(reference_bytes) + reference_bytes <= wide_start {
            *references -= 1;
            self.end = self.end.next_multiple_of(reference_bytes) + reference_bytes;
        }
        self.end = wide_start;
    }

    /// Places a field in the smallest gap that it fits, or at the end.
    fn place(&mut self, bytes: u64) {
        let fitting = self
            .gaps
            .iter()
            .enumerate()
            .filter(|(_, (start, length))| start.next_multiple_of(bytes) + bytes <= start + length);
        let best = fitting.min_by_key(|(_, gap)| gap.1);
        let (start, length) = match best.map(|(at, _)| at) {
            Some(at) => self.gaps.swap_remove(at),
            None => {
                let end = self.end;
                self.end = end.next_multiple_of(bytes) + bytes;
                (end, self.end - end)
            }
        };
        let at = start.next_multiple_of(bytes);
        let (before, after) = ((start, at - start), (at + bytes, start + length - at - bytes));
        self.gaps.extend([before, after].into_iter().filter(|gap| gap.1 > 0));
    }
}

/// The size of static fields: references come first, then the widest. Gaps stay.
pub(super) fn static_bytes(fields: impl Iterator<Item = FieldType>, layout: &ObjectLayout) -> u64 {
    let mut by_width = [0_u64; 4];
    let mut end = 0;
    for field in fields {
        match field {
            FieldType::Reference => end += u64::from(layout.reference_bytes),
            other => by_width[other.bytes(0).trailing_zeros() as usize] += 1,
        }
    }
    for (count, width) in by_width.into_iter().zip([1, 2, 4, 8]).rev() {
        if count > 0 {
            end = end.next_multiple_of(width) + count * width;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use FieldType::{Byte, Int, Long, Reference};

    const COMPRESSED: ObjectLayout = ObjectLayout::new(4, 12, 16);

    fn size(classes: &[&[FieldType]], layout: &ObjectLayout, packing: Packing) -> u64 {
        let mut fields = Fields::none(layout);
        for class in classes {
            fields.add(class.iter().copied(), layout, packing);
        }
        fields.instance_bytes(layout)
    }

    /// Sizes that `jol` and HotSpot's own histogram give.
    #[test]
    fn instances_are_as_long_as_in_the_jvm() {
        let both = [Packing::Classic, Packing::Gaps];
        for packing in both {
            assert_eq!(size(&[&[]], &COMPRESSED, packing), 16, "java.lang.Object");
            assert_eq!(size(&[&[Int]], &COMPRESSED, packing), 16, "java.lang.Integer");
            assert_eq!(size(&[&[Long]], &COMPRESSED, packing), 24, "java.lang.Long");
            assert_eq!(size(&[&[Int, Reference, Byte, Byte]], &COMPRESSED, packing), 24, "java.lang.String");
            assert_eq!(size(&[&[Int, Reference, Reference, Reference]], &COMPRESSED, packing), 32, "HashMap.Node");
        }
        let classes: &[&[FieldType]] = &[&[Byte], &[Byte], &[Byte]];
        assert_eq!(size(classes, &COMPRESSED, Packing::Gaps), 16);
        assert_eq!(size(classes, &COMPRESSED, Packing::Classic), 24);
        assert_eq!(size(&[&[Long, Byte], &[Int]], &COMPRESSED, Packing::Gaps), 32);
    }

    #[test]
    fn static_fields_leave_gaps() {
        assert_eq!(static_bytes([Int, Long, Reference].into_iter(), &COMPRESSED), 20);
        assert_eq!(static_bytes([Byte, Int, Int].into_iter(), &COMPRESSED), 9);
        assert_eq!(static_bytes([].into_iter(), &COMPRESSED), 0);
    }

    #[test]
    fn arrays_are_as_long_as_in_the_jvm() {
        assert_eq!(COMPRESSED.array_bytes(Byte, 9), 32);
        assert_eq!(COMPRESSED.array_bytes(Reference, 10), 56);
        assert_eq!(ObjectLayout::new(8, 16, 24).array_bytes(Reference, 1), 32);
        assert_eq!(ObjectLayout::new(8, 16, 20).array_bytes(Byte, 4), 24);
        assert_eq!(ObjectLayout::new(4, 8, 12).array_bytes(Long, 1), 24);
    }

    #[test]
    fn layouts_have_a_text() {
        assert_eq!(COMPRESSED.to_string().parse(), Ok(COMPRESSED));
        for text in ["", "4,12,16", "5,12,16,8", "4,12,16,9", "4,12,16,8,8"] {
            assert!(text.parse::<ObjectLayout>().is_err(), "{text}");
        }
    }

    #[test]
    fn neighbours_tell_the_layout() {
        for id_bytes in [4, 8] {
            for layout in ObjectLayout::candidates(id_bytes) {
                let mut evidence = Evidence { address_bits: 8, ..Evidence::default() };
                for count in 0..100 {
                    for element in [Reference, Byte, Int, Long] {
                        evidence.arrays.push((element, count, layout.array_bytes(element, count.into())));
                        // After some arrays comes nothing for a while.
                        evidence.arrays.push((element, count, 1 << 20));
                    }
                }
                assert_eq!(evidence.decide(id_bytes), (*layout, true));
            }
        }
    }
}
