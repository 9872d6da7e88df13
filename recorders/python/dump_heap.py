"""Writes every object of a running Python program to a file that `barrow` reads.

In the program, at any moment, or whenever the process gets a signal:

    import dump_heap
    dump_heap.dump("program.pyheap")
    dump_heap.on_signal("SIGUSR1", "program")     # kill -USR1 PID: program-1.pyheap, program-2.pyheap, ...

Around it, with this file's folder in PYTHONPATH; dumps when the script ends, in whatever way:

    python -m dump_heap program.pyheap script.py ARGUMENTS

At a prompt, for instance after `python -i script.py`: the first two lines above.

For CPython 3.8 and later; needs nothing but the interpreter. The program is paused while its heap is written.

A dump is lines of JSON. The first says what it is, the last how many objects it has:

    {"barrow":"python-heap", "version":1, "python":"3.11.2", "pid":77, "collected":true}
    {"type":"ROOT", "root":"modules", "references":["0x7f90"], "labels":["sys"]}
    {"address":"0x7f10", "type":"object", "class":"0x7f40", "size":64, "references":["0x7f80"], "labels":["x"]}
    {"address":"0x7f80", "type":"object", "class":"0x7f50", "size":88, "length":2, "capacity":4, "references":[...]}
    {"barrow":"end", "objects":1}

Found are the objects that the collector tracks (gc.get_objects), and all that can be reached from them and from the
roots (gc.get_referents): modules, builtins, the frames of all threads. What is tracked but was not reached is held
by C code, since garbage was collected: these become roots of the category "interpreter". Left out is what this
module needs for its work, and itself.
"""

import gc
import sys

import _weakref  # Part of the interpreter, as the two above.

VERSION = 1

# Longer texts are cut.
_TEXT_CHARACTERS = 200
# After this many instances of a class, only attributes that one of them had are looked up.
_LEARNING_INSTANCES = 64
# So many entries of a dictionary tell whether it holds the attributes of an instance.
_ASKED_ATTRIBUTES = 8
_WRITE_LINES = 4096
_HEAP_TYPE = 1 << 9
_OPTIMIZED = 1
_ALL = slice(None)
_NOTHING = object()
# Descriptors of the language itself: what they give is in the dump, or no attribute of the program.
_OF_LANGUAGE = ("__class__", "__dict__", "__weakref__")

# Everything is read without calling what a class may define itself.
_dict_of_type = type.__dict__["__dict__"].__get__
_mro_of_type = type.__dict__["__mro__"].__get__
_name_of_type = type.__dict__["__qualname__"].__get__
_module_of_type = type.__dict__["__module__"].__get__
_base_of_type = type.__dict__["__base__"].__get__
_dict_offset_of_type = type.__dict__["__dictoffset__"].__get__
_basic_size_of_type = type.__dict__["__basicsize__"].__get__
_flags_of_type = type.__dict__["__flags__"].__get__
_items_of_dict = dict.items
_get_of_dict = dict.get
_items_of_list = list.__getitem__
_items_of_tuple = tuple.__getitem__
_call_reference = _weakref.ref.__call__
_pointer_size = tuple.__itemsize__
_attribute = object.__getattribute__
_size_of_object = object.__sizeof__
_text_of_str = str.__str__

_Function = type(lambda: 0)
_Code = type((lambda: 0).__code__)
_Frame = type(sys._getframe())
_Module = type(sys)
_Cell = type((lambda x: lambda: x)(0).__closure__[0])
_Member = type(_Function.__dict__["__closure__"])
_function_code = _Function.__dict__["__code__"].__get__
_function_name = _Function.__dict__["__qualname__"].__get__
_function_defaults = _Function.__dict__["__defaults__"].__get__
_function_kwdefaults = _Function.__dict__["__kwdefaults__"].__get__


def dump(path, collect=True):
    """Writes the heap to the file at `path`, after a full collection unless `collect` is false.

    Without a collection, garbage looks as if the interpreter held it. Returns how many objects were written.
    """
    if collect:
        gc.collect()
    was_enabled = gc.isenabled()
    interval = sys.getswitchinterval()
    gc.disable()
    # Other threads run only where the file is written to.
    sys.setswitchinterval(1000)
    try:
        with open(path, "wb", buffering=0) as file:
            return _walk(file, collect)
    finally:
        sys.setswitchinterval(interval)
        if was_enabled:
            gc.enable()


def on_signal(signal="SIGUSR1", prefix="heap"):
    """Dumps the heap to PREFIX-1.pyheap, PREFIX-2.pyheap and so on, each time the process gets the signal."""
    import signal as signals

    numbers = []

    def handle(_signal, _frame):
        numbers.append(None)
        dump("%s-%d.pyheap" % (prefix, len(numbers)))

    signals.signal(getattr(signals, signal), handle)


def _walk(file, collect):
    """Finds and writes everything. Returns how many objects that were."""
    tracked = gc.get_objects()
    # What is known of each class, by its number.
    classes, waiting, weakly, held, lines, queue, hidden, seen = {}, [], [], set(), [], [], set(), set()
    own = [tracked, classes, waiting, weakly, held, lines, queue, hidden, seen, file, sys._getframe()]
    hidden.update(map(id, _own(own)))
    seen |= hidden
    header = '{"barrow":"python-heap", "version":%d, "python":%s, "pid":%d, "collected":%s}\n'
    lines.append(header % (VERSION, _quoted(sys.version.split()[0]), _pid(), "true" if collect else "false"))
    count = 0
    for category, roots in _roots(hidden):
        lines.append(_root_line(category, roots))
        queue.extend(_values(roots))
        del roots
        count += _reach(queue, seen, hidden, classes, weakly, lines, file)
    # What is tracked and no garbage, but was not reached, is held by C code. Of that, roots are the objects that no
    # other one refers to, and then one of each circle that is left; at last what only weak references lead to.
    waiting.extend(_unseen(tracked, seen))
    for value in waiting:
        held.update(_referents(value))
    for without_holder in (True, False):
        for value in waiting:
            if id(value) not in seen and not (without_holder and id(value) in held):
                lines.append(_root_line("interpreter", [(None, value)]))
                queue.append(value)
                count += _reach(queue, seen, hidden, classes, weakly, lines, file)
    while weakly:
        value = weakly.pop()
        if id(value) not in seen:
            lines.append(_root_line("interpreter", [(None, value)]))
            queue.append(value)
            count += _reach(queue, seen, hidden, classes, weakly, lines, file)
    lines.append('{"barrow":"end", "objects":%d}\n' % count)
    _write(file, lines)
    return count


# Apart from _walk, whose variables would have to be cells, which the collector tracks too.


def _values(pairs):
    return [value for _, value in pairs]


def _unseen(values, seen):
    return [value for value in values if id(value) not in seen]


def _referents(value):
    """The numbers of other objects that `value` refers to."""
    return [id(target) for target in gc.get_referents(value) if target is not value]


def _own(structures):
    """Everything of this module's own, with `structures`."""
    space = globals()
    own = structures + [space]
    own += [module for module in list(sys.modules.values()) if type(module) is _Module and vars(module) is space]
    for value in list(space.values()):
        if type(value) is _Function and _function_code(value).co_filename == _function_code(_own).co_filename:
            own += [value, _function_code(value)]
    own += [_Class, _Class.__dict__["__init__"]]
    frame = sys._getframe()
    while frame is not None:
        if frame.f_globals is space and frame.f_code is not _function_code(_main):
            own.append(frame)
        frame = frame.f_back
    own += [structures, own]
    return own


def _roots(hidden):
    """Yields categories of roots, with pairs of a label and an object."""
    modules = [(name, value) for name, value in list(sys.modules.items()) if id(value) not in hidden]
    yield "modules", [("sys.modules", sys.modules)] + modules
    if "builtins" in sys.modules:
        yield "builtins", [("builtins", sys.modules["builtins"])]
    for thread, frame in list(sys._current_frames().items()):
        frames = []
        while frame is not None:
            if frame.f_globals is not globals():
                frames.append(("thread %d" % thread, frame))
            frame = frame.f_back
        if frames:
            yield "frames", frames


def _reach(queue, seen, hidden, classes, weakly, lines, file):
    """Writes what can be reached from the objects in the queue and is new. Returns how many objects that is."""
    count = 0
    while queue:
        value = queue.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        count += 1
        known = classes.get(id(type(value)))
        if known is None:
            known = classes[id(type(value))] = _Class(type(value))
        references, elements = _references(value, known)
        if any(id(target) in hidden for _, target in references):
            references = [pair for pair in references if id(pair[1]) not in hidden]
            elements = 0
        referent = _call_reference(value) if known.container is _weakref.ref else None
        if id(referent) in hidden:
            referent = None
        if referent is not None and id(referent) not in seen:
            weakly.append(referent)
        lines.append(_line(value, known, references, elements, referent))
        if len(lines) >= _WRITE_LINES:
            _write(file, lines)
        queue.append(known.itself)
        queue.extend([target for _, target in references if id(target) not in seen])
    return count


def _write(file, lines):
    """Writes all lines, and empties them."""
    data = memoryview("".join(lines).encode("ascii"))
    del lines[:]
    while data:
        data = data[file.write(data) :]


class _Class:
    """What is known of a class: how to find out what its instances call their references."""

    __slots__ = ("itself", "mro", "container", "is_text", "length", "members", "has_dict", "names", "defaults")
    __slots__ += ("instances", "found")

    def __init__(self, itself):
        self.itself = itself
        self.mro = mro = _mro_of_type(itself) or (itself,)
        containers = (dict, list, tuple, _weakref.ref)
        self.container = next((one for base in mro for one in containers if base is one), None)
        self.is_text = any(base is str for base in mro)
        measured = (str, bytes, bytearray, list, tuple, dict, set, frozenset, _deque())
        self.length = next((one.__len__ for base in mro for one in measured if base is one), None)
        self.has_dict = _dict_offset_of_type(itself) != 0 and bool(_flags_of_type(itself) & _HEAP_TYPE)
        self.members = []
        for base in mro:
            for name, value in list(_space(base).items()):
                if type(value) is _Member and type(name) is str:
                    self.members.append((name, value.__get__))
        self.names = _names_of_attributes(mro) if self.has_dict else ()
        # Of several classes the first one counts.
        spaces = [_space(base) for base in reversed(mro)] if self.names else []
        own = _names_in_each_instance(mro) if self.names else ()
        unsure = [name for name in self.names if name not in own]
        self.defaults = {name: space[name] for space in spaces for name in unsure if name in space}
        self.instances = 0
        self.found = set()


def _deque():
    """The class of double-ended queues, if the program has it."""
    return getattr(sys.modules.get("_collections"), "deque", list)


def _names_of_attributes(mro):
    """Names that the methods of a class use, and that mean nothing to the class itself: perhaps attributes.

    Where instances keep attributes without a dictionary (3.11 and later), asking for the dictionary would make one.
    """
    names = {}
    for base in mro:
        for name, value in list(_space(base).items()):
            if type(value) is _Function:
                names.update(dict.fromkeys(_function_code(value).co_names))
            elif name == "__annotations__" and type(value) is dict:
                names.update((key, None) for key in value if type(key) is str)
            elif name == "__static_attributes__" and type(value) is tuple:
                names.update((key, None) for key in value if type(key) is str)
    return tuple(name for name in names if not any(_is_descriptor(base, name) for base in mro))


def _names_in_each_instance(mro):
    """Names of attributes that the `__init__` of a data class sets, whatever defaults the class has for them."""
    dataclasses = sys.modules.get("dataclasses")
    space = next((_space(base) for base in mro if "__init__" in _space(base)), {})
    fields, parameters = space.get("__dataclass_fields__"), space.get("__dataclass_params__")
    if dataclasses is None or type(fields) is not dict or not getattr(parameters, "init", False):
        return ()
    fields = [one for one in fields.values() if type(one) is dataclasses.Field]
    return {one.name for one in fields if one.init and one._field_type is dataclasses._FIELD}


def _is_descriptor(base, name):
    """Whether asking an instance of `base` for `name` could run code."""
    own = _space(base)
    return name in own and any("__get__" in _space(one) for one in _mro_of_type(type(own[name])) or ())


def _references(value, known):
    """Pairs of a label and an object; how many of them, from the first on, are the elements of a list or tuple."""
    kind, container = known.itself, known.container
    references, elements = [], 0
    if container is dict:
        for key, item in list(_items_of_dict(value)):
            references.append((None, key))
            references.append((_label(key), item))
    elif container is list or container is tuple:
        items = _items_of_list(value, _ALL) if container is list else _items_of_tuple(value, _ALL)
        references = [(None, item) for item in items]
        elements = len(references)
    if kind is dict or kind is list or kind is tuple:
        return references, elements
    others = gc.get_referents(value)
    if kind is _Frame and _shows_variables(value):
        # The collector does not find the variables of a frame that runs.
        collected = set(map(id, others))
        others += [one for _, one in list(value.f_locals.items()) if id(one) not in collected]
    if not others:
        if _is_type(known) and not _is_heap_type(value):
            # The collector does not look into classes that are part of the interpreter.
            references += [("__base__", _base_of_type(value)), ("__mro__", _mro_of_type(value))]
            references += [("__dict__", space) for space in gc.get_referents(_dict_of_type(value))]
            references = [pair for pair in references if pair[1] is not None]
        return references, elements
    # Elements and the class are told already.
    told = {}
    for _, target in references:
        told[id(target)] = told.get(id(target), 0) + 1
    told[id(kind)] = told.get(id(kind), 0) + 1
    names = _names(value, known, others)
    if container is dict:
        # An item whose key is also the name of an attribute has no label: it is found by its key.
        own = {label for labels in names.values() for label in labels}
        for target in others:
            if type(target) is dict and names.get(id(target)) == ["__dict__"]:
                own.update(key for key, _ in list(_items_of_dict(target)) if type(key) is str)
        references = [(None if label in own else label, target) for label, target in references]
    for target in others:
        if told.get(id(target), 0) > 0:
            told[id(target)] -= 1
            continue
        labels = names.get(id(target))
        references.append((labels.pop(0) if labels else None, target))
    return references, elements


def _names(value, known, others):
    """What the objects that `value` refers to are called there: lists of names by the objects' numbers."""
    names = {}
    kind = known.itself
    for name, get in known.members:
        try:
            names.setdefault(id(get(value, kind)), []).append(name)
        except Exception:
            pass
    if kind is _Function:
        names.setdefault(id(_function_code(value)), []).append("__code__")
        names.setdefault(id(_function_name(value)), []).append("__qualname__")
        names.setdefault(id(_function_defaults(value)), []).append("__defaults__")
        names.setdefault(id(_function_kwdefaults(value)), []).append("__kwdefaults__")
    elif kind is _Cell:
        names[id(others[0])] = ["cell_contents"]
    elif kind is _Frame:
        if _shows_variables(value):
            for name, variable in list(value.f_locals.items()):
                names.setdefault(id(variable), []).append(name)
    elif _is_type(known):
        names.setdefault(id(_mro_of_type(value)), []).append("__mro__")
        _name_dict(_nameless_dicts(others, names), names)
    elif kind is _Module:
        _name_dict(_nameless_dicts(others, names), names)
    elif known.has_dict:
        # From 3.11 on attributes may be kept without a dictionary, and may be dictionaries.
        dicts = _nameless_dicts(others, names)
        if not dicts or sys.version_info >= (3, 11):
            _name_attributes(value, known, names)
            dicts = _nameless_dicts(others, names)
            dicts = [one for one in dicts if _holds_attributes(one, value, known, len(others))]
        _name_dict(dicts, names)
    return names


def _shows_variables(frame):
    """Whether asking a frame for its variables changes nothing: before 3.13, that would make a dictionary of them."""
    return sys.version_info >= (3, 13) and bool(frame.f_code.co_flags & _OPTIMIZED)


def _nameless_dicts(others, names):
    return [target for target in others if type(target) is dict and id(target) not in names]


def _name_dict(dicts, names):
    """Calls the only dictionary `__dict__`."""
    if len(dicts) == 1:
        names[id(dicts[0])] = ["__dict__"]


def _holds_attributes(held, value, known, others):
    """Whether a dictionary is that of an instance: what it holds are attributes. `others` is the number of objects that
    the instance refers to."""
    holds = False
    for key, item in list(_items_of_dict(held))[:_ASKED_ATTRIBUTES]:
        if type(key) is not str or any(_is_descriptor(base, key) for base in known.mro):
            continue
        try:
            if _attribute(value, key) is not item:
                return False
        except Exception:
            return False
        holds = True
    # An instance without attributes refers to its class, and to nothing else.
    return holds or not held and others <= 2


def _name_attributes(value, known, names):
    """Looks for attributes that an instance keeps without a dictionary."""
    known.instances += 1
    if known.instances == _LEARNING_INSTANCES:
        known.names = tuple(name for name in known.names if name in known.found)
    for name in known.names:
        try:
            attribute = _attribute(value, name)
        except Exception:
            continue
        known.found.add(name)
        # What the class says may not be an attribute of the instance, and another one may hold the same object.
        if known.defaults.get(name, _NOTHING) is not attribute:
            names.setdefault(id(attribute), []).append(name)


def _space(itself):
    """What a class defines. Classes in C that were never used have nothing."""
    return _dict_of_type(itself) or {}


def _computed(itself, further):
    """Names of attributes that an instance has although it may hold no object for them: a property, or a number that
    a type in C keeps as such. `further` are bases that are told apart from the first one and its bases."""
    names = []
    for one in [itself] + further:
        space = _space(one)
        has_objects_only = "__slots__" in space
        for name, value in list(space.items()):
            if type(name) is not str or name in _OF_LANGUAGE:
                continue
            if type(value) is _Member:
                if not has_objects_only:
                    names.append(name)
            elif any("__set__" in _space(base) for base in _mro_of_type(type(value)) or ()):
                names.append(name)
    return names


def _is_type(known):
    return any(base is type for base in _mro_of_type(known.itself) or ())


def _label(key):
    """What an item of a dictionary is called."""
    if type(key) is str:
        return key
    if type(key) is int or type(key) is bool or key is None:
        return repr(key)[:_TEXT_CHARACTERS] if not _is_huge(key) else None
    return None


def _is_huge(number):
    return type(number) is int and number.bit_length() > 128


def _line(value, known, references, elements, referent):
    """The line of an object."""
    kind = known.itself
    parts = ['{"address":"0x%x", "type":"' % id(value)]
    if _is_type(known):
        parts.append('type"')
        module, name, base = _module_of(value), _name_of_type(value), _base_of_type(value)
        parts.append(', "module":%s, "name":%s' % (_quoted(module), _quoted(name)))
        further = list(_mro_of_type(value) or ())
        if base is not None:
            parts.append(', "base":"0x%x"' % id(base))
        base = value
        while base is not None:
            further = [one for one in further if one is not base]
            base = _base_of_type(base)
        if further:
            parts.append(', "further_bases":["%s"]' % '","'.join("0x%x" % id(one) for one in further))
        computed = _computed(value, further)
        if computed:
            parts.append(', "computed":[%s]' % ",".join(map(_quoted, computed)))
    elif kind is _Frame:
        code = value.f_code
        function = getattr(code, "co_qualname", code.co_name)
        place = (_quoted(function), _quoted(code.co_filename), code.co_firstlineno)
        parts.append('frame", "function":%s, "file":%s, "line":%d' % place)
    else:
        parts.append('object"')
        name = _text_of_str(value) if known.is_text else _name(value, kind)
        if name is not None:
            parts.append(', "name":%s' % _quoted(name))
    parts.append(', "class":"0x%x", "size":%d' % (id(kind), _size(value)))
    if known.length is not None:
        parts.append(', "length":%d' % known.length(value))
        capacity = _capacity(value, kind)
        if capacity is not None:
            parts.append(', "capacity":%d' % capacity)
    parts.append(_references_of_line(references, elements))
    if referent is not None:
        parts.append(', "weak":["0x%x"]' % id(referent))
    parts.append("}\n")
    return "".join(parts)


def _capacity(value, kind):
    """How many elements fit into a list or the table of a set, and how many bytes into a bytearray."""
    if kind is list:
        return (list.__sizeof__(value) - _basic_size_of_type(list)) // _pointer_size
    if kind is bytearray:
        return bytearray.__alloc__(value)
    if kind is set or kind is frozenset:
        # A table of 8 slots is a part of the set. A slot is a pointer and a hash.
        table = (kind.__sizeof__(value) - _basic_size_of_type(kind)) // (2 * _pointer_size)
        return table or 8
    return None


def _references_of_line(references, elements):
    if not references:
        return ""
    parts = [', "references":["', '", "'.join(["0x%x" % id(target) for _, target in references]), '"]']
    if elements:
        parts.append(', "elements":%d' % elements)
    labels = ["null" if label is None else _quoted(label) for label, _ in references[elements:]]
    while labels and labels[-1] == "null":
        labels.pop()
    if labels:
        parts.append(', "labels":[%s]' % ", ".join(labels))
    return "".join(parts)


def _root_line(category, roots):
    return '{"type":"ROOT", "root":"%s"%s}\n' % (category, _references_of_line(roots, 0))


def _module_of(itself):
    module = _module_of_type(itself) if "__module__" in _space(itself) or not _is_heap_type(itself) else None
    return module if type(module) is str else ""


def _is_heap_type(itself):
    return bool(_flags_of_type(itself) & _HEAP_TYPE)


def _name(value, kind):
    """What a person would like to see of an object, if that can be had without running any code of the program."""
    if kind is int:
        return None if _is_huge(value) else repr(value)
    if kind is float or kind is bool or kind is complex or value is None:
        return repr(value)
    if kind is bytes:
        text = repr(value[:_TEXT_CHARACTERS])
        # With room for the length.
        is_whole = len(value) <= _TEXT_CHARACTERS >= len(text)
        return text if is_whole else "%s... (%d bytes)" % (text[: _TEXT_CHARACTERS - 32], len(value))
    if kind is _Function:
        return _function_name(value)
    if kind is _Code:
        return getattr(value, "co_qualname", value.co_name)
    if kind is _Module:
        name = _get_of_dict(vars(value), "__name__")
        return name if type(name) is str else None
    return None


def _size(value):
    try:
        return sys.getsizeof(value)
    except KeyboardInterrupt:
        raise
    except BaseException:
        # A class of the program answers for itself, and wrongly.
        try:
            return _size_of_object(value)
        except Exception:
            return 0


def _quoted(text):
    """A text as JSON, cut if it is long."""
    if len(text) > _TEXT_CHARACTERS:
        text = "%s... (%d characters)" % (text[:_TEXT_CHARACTERS], len(text))
    text = str(text)
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return '"%s"' % text
    return '"%s"' % "".join(map(_escaped, text))


def _escaped(character):
    number = ord(character)
    if character in '"\\':
        return "\\" + character
    if 0x20 <= number < 0x7F:
        return character
    if number < 0x10000:
        return "\\u%04x" % number
    number -= 0x10000
    return "\\u%04x\\u%04x" % (0xD800 + (number >> 10), 0xDC00 + (number & 0x3FF))


def _pid():
    os = sys.modules.get("os")
    return os.getpid() if os is not None else 0


def _main(arguments):
    """Runs a script as the main module, and dumps the heap when it ends."""
    if len(arguments) < 2:
        sys.exit("usage: python -m dump_heap DUMP SCRIPT [ARGUMENTS]")
    path, script = arguments[:2]
    main = _Module("__main__")
    main.__file__ = script
    main.__builtins__ = sys.modules["builtins"]
    itself = sys.modules["__main__"]
    sys.modules["__main__"] = main
    sys.argv[:] = arguments[1:]
    sys.path[0] = script.rpartition("/")[0]
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    try:
        exec(code, main.__dict__)
    finally:
        dump(path)
        del itself


if __name__ == "__main__":
    _main(sys.argv[1:])
