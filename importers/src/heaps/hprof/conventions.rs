//! Attributes of the types of well-known classes of the JVM's libraries.

use super::interfaces;

/// Classes whose instances represent the value of their field `value`. Those of `java.lang` never change.
const STAND_FOR_VALUES: [&str; 11] = [
    "java.lang.Boolean",
    "java.lang.Byte",
    "java.lang.Character",
    "java.lang.Double",
    "java.lang.Float",
    "java.lang.Integer",
    "java.lang.Long",
    "java.lang.Short",
    "java.util.concurrent.atomic.AtomicBoolean",
    "java.util.concurrent.atomic.AtomicInteger",
    "java.util.concurrent.atomic.AtomicLong",
];

/// Returns whether a field that is a number holds 1 for true and 0 for false.
pub(super) fn is_truth(class: &str, field: &str) -> bool {
    (class, field) == ("java.util.concurrent.atomic.AtomicBoolean", "value")
}

/// Static fields with the objects that collections keep in place of null: the class, and the field.
pub(super) const PLACEHOLDERS: [(&str, &str); 3] =
    [("java.util.EnumMap", "NULL"), ("java.util.IdentityHashMap", "NULL_KEY"), ("java.util.WeakHashMap", "NULL_KEY")];
/// The name of these objects, which others of their classes do not have.
pub(super) const NULL: &str = "null";
/// Their classes.
const CLASSES_OF_PLACEHOLDERS: [&str; 2] = ["java.lang.Object", "java.util.EnumMap$1"];

/// Classes whose instances have the name to which a field refers.
const NAMED_BY: [(&str, &str); 6] = [
    ("java.io.File", "path"),
    ("java.lang.Enum", "name"),
    ("java.lang.Module", "name"),
    ("java.lang.ThreadGroup", "name"),
    ("java.net.URI", "string"),
    ("java.util.regex.Pattern", "pattern"),
];

/// Templates for the text of instances.
const READS_AS: [(&str, &str); 41] = [
    // Loaders and versions of the JDK's own modules are omitted.
    (
        "java.lang.StackTraceElement",
        "[{?.format=0}{.classLoaderName}/[{.moduleName}[@{.moduleVersion}]]/\
         |{.moduleName}[{?.format=0}@{.moduleVersion}|{?.format=1}@{.moduleVersion}]/]\
         {.declaringClass}.{.methodName}\
         ([{?.lineNumber=-2}Native Method|{.fileName}[:{.lineNumber:natural}]|Unknown Source])",
    ),
    ("java.lang.Thread", "{.name}"),
    ("java.lang.Throwable", "{.detailMessage}"),
    ("java.lang.reflect.Constructor", "{.clazz}"),
    ("java.lang.reflect.Field", "{.clazz}.{.name}"),
    ("java.lang.reflect.Method", "{.clazz}.{.name}"),
    ("java.net.Inet4Address", "[{.holder.hostName}/]{.holder.address:ipv4}"),
    (
        "java.net.Inet6Address",
        "[{.holder.hostName}/][{?.holder6.ipaddress.every=0}::|{.holder6.ipaddress.contents:ipv6}]\
         [%{.holder6.scope_ifname.name}|{?.holder6.scope_id_set}%{.holder6.scope_id}]",
    ),
    ("java.net.InetSocketAddress", "[{.holder.hostname}][{.holder.addr}]:{.holder.port}"),
    ("java.net.URL", "{.protocol}:[//{.authority}]{.file}[#{.ref}]"),
    (
        "java.math.BigDecimal",
        "[{.intCompact .scale:decimal}|{.intVal.signum .intVal.mag.every .intVal.mag.length .scale:decimal}\
         |{.intVal.signum .intVal.mag.contents .scale:decimal}]",
    ),
    ("java.math.BigInteger", "[{.signum .mag.every .mag.length:integer}|{.signum .mag.contents:integer}]"),
    ("java.nio.charset.Charset", "{.name}"),
    // The milliseconds are whole seconds.
    ("java.sql.Timestamp", "{.fastTime .nanos:ms}{?.cdate.normalized}"),
    ("java.time.Duration", "{.seconds .nanos:duration}"),
    ("java.time.Instant", "{.seconds .nanos:time}"),
    ("java.time.LocalDate", "{.year .month .day:date}"),
    ("java.time.LocalDateTime", "{.date}T{.time}"),
    ("java.time.LocalTime", "{.hour .minute .second .nano:clock}"),
    ("java.time.MonthDay", "--{.month:02}-{.day:02}"),
    ("java.time.OffsetDateTime", "{.dateTime}{.offset}"),
    ("java.time.OffsetTime", "{.time}{.offset}"),
    (
        "java.time.Period",
        "[{?.years=0}{?.months=0}{?.days=0}P0D|P[{?.years=0}|{.years}Y][{?.months=0}|{.months}M][{?.days=0}|{.days}D]]",
    ),
    ("java.time.Year", "{.year}"),
    ("java.time.YearMonth", "{.year:04}-{.month:02}"),
    ("java.time.ZoneOffset", "{.id}"),
    ("java.time.ZoneRegion", "{.id}"),
    ("java.time.ZonedDateTime", "{.dateTime}{.offset}[{?.zone=.offset}|\\[{.zone}\\]]"),
    // The time of a calendar whose fields were set is computed when it is read.
    ("java.util.Calendar", "{.time:ms}{?.isTimeSet}"),
    ("java.util.Currency", "{.currencyCode}"),
    // A date whose fields were set keeps them in `cdate` until its time is read.
    ("java.util.Date", "{.fastTime:ms}{?.cdate.normalized}"),
    (
        "java.util.Locale",
        "{.baseLocale.language}\
         [_{.baseLocale.region}[_{.baseLocale.variant}]\
         [_#{.baseLocale.script}[_{.localeExtensions.id}]|_#{.localeExtensions.id}]\
         |__{.baseLocale.variant}[_#{.baseLocale.script}[_{.localeExtensions.id}]|_#{.localeExtensions.id}]\
         |__#{.baseLocale.script}[_{.localeExtensions.id}]|__#{.localeExtensions.id}]",
    ),
    ("java.util.Optional", "[{?.value=null}Optional.empty|{.value}]"),
    ("java.util.OptionalDouble", "[{?.isPresent}{.value}|OptionalDouble.empty]"),
    ("java.util.OptionalInt", "[{?.isPresent}{.value}|OptionalInt.empty]"),
    ("java.util.OptionalLong", "[{?.isPresent}{.value}|OptionalLong.empty]"),
    ("java.util.TimeZone", "{.ID}"),
    ("java.util.UUID", "{.mostSigBits .leastSigBits:uuid}"),
    ("java.util.concurrent.atomic.AtomicReference", "{.value}"),
    ("java.util.jar.Attributes$Name", "{.name}"),
    ("sun.nio.fs.UnixPath", "[{?.stringValue=null}{.path}|{.stringValue}]"),
];

/// A class whose instances hold elements.
struct Collection {
    class: &'static str,
    /// Path of the number of elements.
    elements: &'static str,
    /// Path of the number of slots for them; empty without slots.
    slots: &'static str,
    /// Path of the slots in which chains of entries begin; empty if there are none.
    hash_table: &'static str,
}

impl Collection {
    const fn new(class: &'static str, elements: &'static str, slots: &'static str, hash_table: &'static str) -> Self {
        Collection { class, elements, slots, hash_table }
    }
}

/// The collections of the JDK and of Android. Subclasses have the same fields.
const COLLECTIONS: [Collection; 89] = [
    Collection::new("android.util.ArrayMap", ".mSize", ".mHashes.length", ""),
    Collection::new("android.util.ArraySet", ".mSize", ".mHashes.length", ""),
    Collection::new("android.util.SparseArray", ".mSize", ".mKeys.length", ""),
    Collection::new("java.lang.ThreadLocal$ThreadLocalMap", ".size", ".table.length", ""),
    Collection::new("java.util.AbstractList$SubList", ".size", "", ""),
    Collection::new("java.util.AbstractMap$1", "of .this$0", "", ""),
    Collection::new("java.util.ArrayDeque", ".tail - .head % .elements.length", ".elements.length", ""),
    Collection::new("java.util.ArrayList", ".size", ".elementData.length", ""),
    Collection::new("java.util.ArrayList$SubList", ".size", "", ""),
    Collection::new("java.util.Arrays$ArrayList", ".a.length", "", ""),
    Collection::new("java.util.Collections$AsLIFOQueue", "of .q", "", ""),
    Collection::new("java.util.Collections$CheckedCollection", "of .c", "", ""),
    Collection::new("java.util.Collections$CheckedMap", "of .m", "", ""),
    Collection::new("java.util.Collections$CopiesList", ".n", "", ""),
    Collection::new("java.util.Collections$EmptyList", "0", "", ""),
    Collection::new("java.util.Collections$EmptyMap", "0", "", ""),
    Collection::new("java.util.Collections$EmptySet", "0", "", ""),
    Collection::new("java.util.Collections$SetFromMap", "of .m", "", ""),
    Collection::new("java.util.Collections$SingletonList", "1", "", ""),
    Collection::new("java.util.Collections$SingletonMap", "1", "", ""),
    Collection::new("java.util.Collections$SingletonSet", "1", "", ""),
    Collection::new("java.util.Collections$SynchronizedCollection", "of .c", "", ""),
    Collection::new("java.util.Collections$SynchronizedMap", "of .m", "", ""),
    Collection::new("java.util.Collections$UnmodifiableCollection", "of .c", "", ""),
    Collection::new("java.util.Collections$UnmodifiableMap", "of .m", "", ""),
    Collection::new("java.util.EnumMap", ".size", ".vals.length", ""),
    Collection::new("java.util.EnumMap$KeySet", "of .this$0", "", ""),
    Collection::new("java.util.EnumMap$Values", "of .this$0", "", ""),
    Collection::new("java.util.HashMap", ".size", ".table.length", ".table"),
    Collection::new("java.util.HashMap$EntrySet", "of .this$0", "", ""),
    Collection::new("java.util.HashMap$KeySet", "of .this$0", "", ""),
    Collection::new("java.util.HashMap$Values", "of .this$0", "", ""),
    Collection::new("java.util.HashSet", ".map.size", ".map.table.length", ""),
    Collection::new("java.util.Hashtable", ".count", ".table.length", ".table"),
    Collection::new("java.util.Hashtable$EntrySet", "of .this$0", "", ""),
    Collection::new("java.util.Hashtable$KeySet", "of .this$0", "", ""),
    Collection::new("java.util.Hashtable$ValueCollection", "of .this$0", "", ""),
    // Keys and values alternate.
    Collection::new("java.util.IdentityHashMap", ".size", "", ""),
    Collection::new("java.util.IdentityHashMap$EntrySet", "of .this$0", "", ""),
    Collection::new("java.util.IdentityHashMap$KeySet", "of .this$0", "", ""),
    Collection::new("java.util.IdentityHashMap$Values", "of .this$0", "", ""),
    Collection::new("java.util.ImmutableCollections$List12", "entries", "", ""),
    Collection::new("java.util.ImmutableCollections$ListN", ".elements.length", "", ""),
    Collection::new("java.util.ImmutableCollections$Map1", "1", "", ""),
    Collection::new("java.util.ImmutableCollections$MapN", ".size", "", ""),
    Collection::new("java.util.ImmutableCollections$Set12", "entries", "", ""),
    Collection::new("java.util.ImmutableCollections$SetN", ".size", "", ""),
    Collection::new("java.util.ImmutableCollections$SubList", ".size", "", ""),
    Collection::new("java.util.JumboEnumSet", ".size", "", ""),
    Collection::new("java.util.LinkedHashMap$LinkedEntrySet", "of .this$0", "", ""),
    Collection::new("java.util.LinkedHashMap$LinkedKeySet", "of .this$0", "", ""),
    Collection::new("java.util.LinkedHashMap$LinkedValues", "of .this$0", "", ""),
    Collection::new("java.util.LinkedList", ".size", "", ""),
    Collection::new("java.util.PriorityQueue", ".size", ".queue.length", ""),
    Collection::new("java.util.Properties", ".map.baseCount !.map.counterCells", ".map.table.length", ""),
    Collection::new("java.util.RegularEnumSet", "bits of .elements", "", ""),
    Collection::new("java.util.TreeMap", ".size", "", ""),
    Collection::new("java.util.TreeMap$EntrySet", "of .this$0", "", ""),
    Collection::new("java.util.TreeMap$KeySet", "of .m", "", ""),
    Collection::new("java.util.TreeMap$NavigableSubMap", "unknown", "", ""),
    Collection::new("java.util.TreeMap$Values", "of .this$0", "", ""),
    Collection::new("java.util.TreeSet", ".m.size", "", ""),
    Collection::new("java.util.Vector", ".elementCount", ".elementData.length", ""),
    Collection::new("java.util.WeakHashMap", ".size", ".table.length", ".table"),
    Collection::new("java.util.WeakHashMap$EntrySet", "of .this$0", "", ""),
    Collection::new("java.util.WeakHashMap$KeySet", "of .this$0", "", ""),
    Collection::new("java.util.WeakHashMap$Values", "of .this$0", "", ""),
    Collection::new("java.util.concurrent.ArrayBlockingQueue", ".count", ".items.length", ""),
    Collection::new("java.util.concurrent.ConcurrentHashMap", ".baseCount !.counterCells", ".table.length", ".table"),
    Collection::new("java.util.concurrent.ConcurrentHashMap$EntrySetView", "of .map", "", ""),
    Collection::new(
        "java.util.concurrent.ConcurrentHashMap$KeySetView",
        ".map.baseCount !.map.counterCells",
        ".map.table.length",
        "",
    ),
    Collection::new("java.util.concurrent.ConcurrentHashMap$ValuesView", "of .map", "", ""),
    Collection::new("java.util.concurrent.ConcurrentLinkedDeque", "entries", "", ""),
    Collection::new("java.util.concurrent.ConcurrentLinkedQueue", "entries", "", ""),
    Collection::new("java.util.concurrent.ConcurrentSkipListMap", "entries", "", ""),
    Collection::new("java.util.concurrent.ConcurrentSkipListMap$EntrySet", "of .m", "", ""),
    Collection::new("java.util.concurrent.ConcurrentSkipListMap$KeySet", "of .m", "", ""),
    Collection::new("java.util.concurrent.ConcurrentSkipListMap$SubMap", "unknown", "", ""),
    Collection::new("java.util.concurrent.ConcurrentSkipListMap$Values", "of .m", "", ""),
    Collection::new("java.util.concurrent.ConcurrentSkipListSet", "of .m", "", ""),
    Collection::new("java.util.concurrent.CopyOnWriteArrayList", ".array.length", "", ""),
    Collection::new("java.util.concurrent.CopyOnWriteArrayList$COWSubList", ".size", "", ""),
    Collection::new("java.util.concurrent.CopyOnWriteArraySet", ".al.array.length", "", ""),
    Collection::new("java.util.concurrent.DelayQueue", ".q.size", ".q.queue.length", ""),
    Collection::new("java.util.concurrent.LinkedBlockingDeque", ".count", "", ""),
    Collection::new("java.util.concurrent.LinkedBlockingQueue", ".count", "", ""),
    Collection::new("java.util.concurrent.LinkedTransferQueue", "entries", "", ""),
    Collection::new("java.util.concurrent.PriorityBlockingQueue", ".size", ".queue.length", ""),
    Collection::new("java.util.jar.Attributes", ".map.size", ".map.table.length", ""),
];

/// Paths of the entries of collections and of their nodes, in the JDK from 8 on and in Android. Subclasses have the
/// same paths.
const ENTRIES: [(&str, &str); 110] = [
    ("android.util.ArrayMap", ".mArray[=]"),
    ("android.util.ArraySet", ".mArray[]="),
    // Deleted values are placeholders. The keys are in an array of numbers.
    ("android.util.SparseArray", ".mValues[]="),
    ("java.lang.ThreadLocal$ThreadLocalMap", ".table[]"),
    ("java.lang.ThreadLocal$ThreadLocalMap$Entry", ".referent?=.value"),
    // The list may be of any class; only those backed by an array can be read.
    ("java.util.AbstractList$SubList", "=.root.elementData[.offset,.size] =.root.a[.offset,.size]"),
    ("java.util.AbstractMap$1", ".this$0="),
    ("java.util.ArrayDeque", "=.elements[.head]"),
    ("java.util.ArrayList", "=.elementData[]"),
    ("java.util.ArrayList$SubList", "=.root.elementData[.offset,.size]"),
    ("java.util.Arrays$ArrayList", "=.a[]"),
    ("java.util.Collections$AsLIFOQueue", ".q"),
    ("java.util.Collections$CheckedCollection", ".c"),
    ("java.util.Collections$CheckedMap", ".m"),
    ("java.util.Collections$CopiesList", "=.element*.n"),
    // They have no references with an index: they hold nothing.
    ("java.util.Collections$EmptyList", "=[]"),
    ("java.util.Collections$EmptyMap", "=[]"),
    ("java.util.Collections$EmptySet", "=[]"),
    ("java.util.Collections$SetFromMap", ".m="),
    ("java.util.Collections$SingletonList", "=.element"),
    ("java.util.Collections$SingletonMap", ".k=.v"),
    ("java.util.Collections$SingletonSet", "=.element="),
    ("java.util.Collections$SynchronizedCollection", ".c"),
    ("java.util.Collections$SynchronizedMap", ".m"),
    ("java.util.Collections$UnmodifiableCollection", ".c"),
    ("java.util.Collections$UnmodifiableMap", ".m"),
    // A slot without an element holds null.
    ("java.util.EnumMap", ".keyUniverse[]=.vals[]"),
    // Views: of keys, and of entries; those of values show the keys, too.
    ("java.util.EnumMap$KeySet", ".this$0="),
    ("java.util.EnumMap$Values", ".this$0"),
    ("java.util.HashMap", ".table[]"),
    ("java.util.HashMap$EntrySet", ".this$0"),
    ("java.util.HashMap$HashMapEntry", ".key=.value .next"),
    ("java.util.HashMap$KeySet", ".this$0="),
    ("java.util.HashMap$Node", ".key=.value .next"),
    // In a `LinkedHashMap`, they also are in its order.
    ("java.util.HashMap$TreeNode", ".key=.value .after .next"),
    ("java.util.HashMap$Values", ".this$0"),
    ("java.util.HashSet", ".map="),
    ("java.util.Hashtable", ".table[]"),
    ("java.util.Hashtable$Entry", ".key=.value .next"),
    ("java.util.Hashtable$EntrySet", ".this$0"),
    ("java.util.Hashtable$HashtableEntry", ".key=.value .next"),
    ("java.util.Hashtable$KeySet", ".this$0="),
    ("java.util.Hashtable$ValueCollection", ".this$0"),
    ("java.util.IdentityHashMap", ".table[=]"),
    ("java.util.IdentityHashMap$EntrySet", ".this$0"),
    ("java.util.IdentityHashMap$KeySet", ".this$0="),
    ("java.util.IdentityHashMap$Values", ".this$0"),
    // In place of a second element there may be a placeholder, or null in older versions.
    ("java.util.ImmutableCollections$List12", "=.e0 =.e1?java.lang.Object"),
    ("java.util.ImmutableCollections$ListN", "=.elements[]"),
    ("java.util.ImmutableCollections$Map1", ".k0=.v0"),
    ("java.util.ImmutableCollections$MapN", ".table[=]"),
    ("java.util.ImmutableCollections$Set12", "=.e0= =.e1?java.lang.Object="),
    ("java.util.ImmutableCollections$SetN", ".elements[]="),
    ("java.util.ImmutableCollections$SubList", "=.root.elements[.offset,.size]"),
    ("java.util.LinkedHashMap", ".head .table[]"),
    ("java.util.LinkedHashMap$Entry", ".key=.value .after .next"),
    ("java.util.LinkedHashMap$LinkedEntrySet", ".this$0"),
    ("java.util.LinkedHashMap$LinkedHashMapEntry", ".key=.value .after .next"),
    ("java.util.LinkedHashMap$LinkedKeySet", ".this$0="),
    ("java.util.LinkedHashMap$LinkedValues", ".this$0"),
    ("java.util.LinkedList", ".first"),
    ("java.util.LinkedList$Node", "=.item .next"),
    ("java.util.PriorityQueue", "=.queue[]"),
    // Before JDK 9 it holds its entries as the `Hashtable` that it is.
    ("java.util.Properties", ".map .table[]"),
    ("java.util.RegularEnumSet", ".universe[.elements]="),
    ("java.util.TreeMap", ".root"),
    ("java.util.TreeMap$Entry", ".left .key=.value .right"),
    ("java.util.TreeMap$EntrySet", ".this$0"),
    ("java.util.TreeMap$KeySet", ".m="),
    ("java.util.TreeMap$TreeMapEntry", ".left .key=.value .right"),
    ("java.util.TreeMap$Values", ".this$0"),
    ("java.util.TreeSet", ".m="),
    ("java.util.Vector", "=.elementData[]"),
    ("java.util.WeakHashMap", ".table[]"),
    // A reference has a field `next`, too: it leads to another entry of the map that is in its queue.
    ("java.util.WeakHashMap$Entry", ".referent?=.value .next~"),
    ("java.util.WeakHashMap$EntrySet", ".this$0"),
    ("java.util.WeakHashMap$KeySet", ".this$0="),
    ("java.util.WeakHashMap$Values", ".this$0"),
    ("java.util.concurrent.ArrayBlockingQueue", "=.items[.takeIndex]"),
    ("java.util.concurrent.ConcurrentHashMap", ".table[]"),
    ("java.util.concurrent.ConcurrentHashMap$EntrySetView", ".map"),
    // While a table grows, some of its slots lead to the next one.
    ("java.util.concurrent.ConcurrentHashMap$ForwardingNode", ".nextTable[]"),
    ("java.util.concurrent.ConcurrentHashMap$KeySetView", ".map="),
    ("java.util.concurrent.ConcurrentHashMap$Node", ".key=.val .next"),
    ("java.util.concurrent.ConcurrentHashMap$ReservationNode", ".next"),
    ("java.util.concurrent.ConcurrentHashMap$TreeBin", ".first"),
    ("java.util.concurrent.ConcurrentHashMap$ValuesView", ".map"),
    // The head may be a node after the first one.
    ("java.util.concurrent.ConcurrentLinkedDeque", ".head"),
    ("java.util.concurrent.ConcurrentLinkedDeque$Node", ".prev =.item? .next"),
    ("java.util.concurrent.ConcurrentLinkedQueue", ".head"),
    ("java.util.concurrent.ConcurrentLinkedQueue$Node", "=.item? .next"),
    ("java.util.concurrent.ConcurrentSkipListMap", ".head.node.next"),
    ("java.util.concurrent.ConcurrentSkipListMap$EntrySet", ".m"),
    ("java.util.concurrent.ConcurrentSkipListMap$KeySet", ".m="),
    ("java.util.concurrent.ConcurrentSkipListMap$Node", ".key=.val? .next"),
    ("java.util.concurrent.ConcurrentSkipListMap$Values", ".m"),
    ("java.util.concurrent.ConcurrentSkipListSet", ".m="),
    ("java.util.concurrent.CopyOnWriteArrayList", "=.array[]"),
    ("java.util.concurrent.CopyOnWriteArrayList$COWSubList", "=.expectedArray[.offset,.size]"),
    ("java.util.concurrent.CopyOnWriteArraySet", ".al"),
    ("java.util.concurrent.DelayQueue", ".q"),
    ("java.util.concurrent.LinkedBlockingDeque", ".first"),
    ("java.util.concurrent.LinkedBlockingDeque$Node", "=.item .next"),
    ("java.util.concurrent.LinkedBlockingQueue", ".head.next"),
    ("java.util.concurrent.LinkedBlockingQueue$Node", "=.item .next"),
    ("java.util.concurrent.LinkedTransferQueue", ".head"),
    // A removed item leaves null or the node itself.
    ("java.util.concurrent.LinkedTransferQueue$DualNode", "=.item? .next"),
    ("java.util.concurrent.LinkedTransferQueue$Node", "=.item? .next"),
    ("java.util.concurrent.PriorityBlockingQueue", "=.queue[]"),
    ("java.util.jar.Attributes", ".map"),
];

/// The attributes of arrays, which hold their elements themselves: as many as their length.
pub(super) const OF_ARRAYS: [(&str, &str); 3] = [("elements", ".length"), ("slots", ".length"), ("entries", "=[]")];

/// The field with the value shared by all elements of an array.
pub(super) const SAME_ELEMENTS: &str = "every";
/// The fields with the elements of an array, as text: all of them, or the first ones.
pub(super) const ALL_ELEMENTS: &str = "contents";
pub(super) const FIRST_ELEMENTS: &str = "first";

/// The attributes of primitive arrays.
pub(super) const OF_PRIMITIVE_ARRAYS: [(&str, &str); 4] =
    [OF_ARRAYS[0], OF_ARRAYS[1], ("same elements", SAME_ELEMENTS), ("all elements", ALL_ELEMENTS)];

/// The attributes of a class's type. `has_values` tells whether values of fields are recorded.
pub(super) fn of_class(name: &str, has_values: bool) -> Vec<(&'static str, &'static str)> {
    let mut attributes = Vec::new();
    if name == "java.lang.String" {
        attributes.push(("text of", "value"));
    }
    if STAND_FOR_VALUES.contains(&name) {
        attributes.push(("value of", "value"));
        if !name.starts_with("java.util.concurrent.") {
            attributes.push(("interchangeable", "yes"));
        }
    }
    if has_values && CLASSES_OF_PLACEHOLDERS.contains(&name) {
        attributes.push(("null", NULL));
    }
    if let Some((_, field)) = NAMED_BY.iter().find(|(class, _)| *class == name) {
        attributes.push(("named by", field));
    }
    if let Some((_, template)) = READS_AS.iter().find(|(class, _)| *class == name) {
        attributes.push(("reads as", template));
    }
    if let Some(collection) = COLLECTIONS.iter().find(|collection| has_values && collection.class == name) {
        let places =
            [("elements", collection.elements), ("slots", collection.slots), ("hash table", collection.hash_table)];
        attributes.extend(places.into_iter().filter(|(_, place)| !place.is_empty()));
    }
    if let Some((_, places)) = ENTRIES.iter().find(|(class, _)| *class == name) {
        attributes.push(("entries", places));
    }
    let interfaces = interfaces::of_class(name).into_iter().flat_map(|names| names.split(' '));
    attributes.extend(interfaces.map(|name| ("implements", name)));
    attributes
}
