//! Tiny dumps of one JSON object per line, written by hand.

/// Every field that is recorded, in the order of Ruby 3.1, which has slots of one size.
pub(crate) const RUBY_31: &str = r##"{"type":"ROOT", "root":"vm", "references":["0x7f10", "0x7f38", "0x7f10", "0xdead"]}
{"type":"ROOT", "root":"global_tbl", "references":["0x7fb0"]}
{"address":"0x7f10", "type":"CLASS", "class":"0x7f60", "superclass":"0x7f38", "name":"Card", "references":["0x7f38", "0x7fb0"], "memsize":544, "flags":{"wb_protected":true, "old":true}}
{"address":"0x7f38", "type":"CLASS", "class":"0x7f88", "name":"Object", "memsize":600}
{"address":"0x7f60", "type":"CLASS", "class":"0x7f88", "superclass":"0x7f88", "real_class_name":"Class", "singleton":true, "references":["0x7f88", "0x7f10"], "memsize":544}
{"address":"0x7f88", "type":"CLASS", "class":"0x7f60", "name":"Class", "memsize":500}
{"address":"0x7fb0", "type":"STRING", "class":"0x7fd8", "frozen":true, "bytesize":24, "capacity":47, "value":"sp\u00e4te \"Karte\"", "encoding":"UTF-8", "file":"a.rb", "line":12, "method":"new", "generation":18, "memsize":88, "flags":{"old":true}}
{"address":"0x7fd8", "type":"CLASS", "class":"0x7f60", "name":"String", "memsize":40}
{"address":"0x8000", "type":"OBJECT", "class":"0x7f10", "ivars":3, "references":["0x7fb0", "0x7fb0"], "file":"a.rb", "line":12, "method":"new", "generation":19, "memsize":40}
{"address":"0x8028", "type":"HASH", "class":"0x8050", "size":1, "default":"0x8078", "references":["0x8000", "0x8078"], "file":"a.rb", "line":14, "generation":19, "memsize":168}
{"address":"0x8050", "type":"CLASS", "class":"0x7f60", "superclass":"0x80a0", "memsize":40}
{"address":"0x8078", "type":"DATA", "class":"0x7f38", "struct":"proc", "references":["0x8000", "0xbeef"], "memsize":80}
{"address":"0x80a0", "type":"ICLASS", "class":"0x80c8", "superclass":"0x7f38", "references":["0x7f38"], "memsize":40}
{"address":"0x80c8", "type":"MODULE", "class":"0x7f60", "name":"Kernel", "memsize":40}
{"address":"0x80f0", "type":"IMEMO", "class":"0x7fb0", "imemo_type":"callcache", "memsize":40}
{"address":"0x8118", "type":"IMEMO", "class":"0x8", "imemo_type":"cref", "references":["0x7f10"], "memsize":40}
{"address":"0x8140", "type":"ARRAY", "length":0, "memsize":40}
{"address":"0x8168", "type":"DATA", "struct":"autoload_const", "memsize":104}
{"address":"0x8190", "type":"ZOMBIE"}
{"address":"0x81b8", "type":"NONE"}
"##;

/// A dump with the additions of Ruby 3.2 to 3.4: slots of several sizes, and shapes.
pub(crate) const RUBY_34: &str = r#"{"type":"ROOT", "root":"vm", "references":["0x30010"]}
{"address":"0x9000", "type":"SHAPE", "id":0, "depth":1, "shape_type":"ROOT", "edges":9, "memsize":168}
{"address":"0x9018", "type":"SHAPE", "id":3, "parent_id":65535, "depth":1, "shape_type":"T_OBJECT", "edges":8, "memsize":72}
{"address":"0x9030", "type":"SHAPE", "id":7, "parent_id":3, "depth":2, "shape_type":"IVAR","edge_name":"@left", "edges":1, "memsize":24}
{"address":"0x9048", "type":"SHAPE", "id":8, "parent_id":7, "depth":3, "shape_type":"IVAR","edge_name":"@right", "edges":1, "memsize":24}
{"address":"0x9060", "type":"SHAPE", "id":9, "parent_id":8, "depth":4, "shape_type":"FROZEN", "edges":0, "memsize":24}
{"address":"0x30010", "type":"CLASS", "shape_id":0, "slot_size":160, "class":"0x300b0", "variation_count":0, "name":"Pair", "memsize":248}
{"address":"0x300b0", "type":"CLASS", "shape_id":1, "slot_size":160, "class":"0x300b0", "name":"Class", "memsize":160}
{"address":"0x30150", "type":"OBJECT", "shape_id":9, "slot_size":40, "class":"0x30010", "frozen":true, "embedded":true, "ivars":2, "references":["0x30178", "0x30150"], "memsize":40}
{"address":"0x30178", "type":"OBJECT", "shape_id":8, "slot_size":40, "class":"0x30010", "embedded":true, "ivars":2, "references":["0x30150"], "memsize":40}
{"address":"0x301a0", "type":"IMEMO", "shape_id":0, "slot_size":40, "imemo_type":"ment", "called_id":"read", "receiver_class":"0x30010", "mid":"read", "memsize":88}
"#;

/// Output of the script for CPython, with every field that is recorded.
pub(crate) const PYTHON: &str = r#"{"barrow":"python-heap", "version":1, "python":"3.11.2", "pid":77, "collected":true}
{"type":"ROOT", "root":"modules", "references":["0x7f10", "0xdead"], "labels":["__main__", "lost"]}
{"address":"0x7f10", "type":"object", "name":"__main__", "class":"0x100", "size":72, "references":["0x7f20"], "labels":["__dict__"]}
{"address":"0x7f20", "type":"object", "class":"0x300", "size":232, "references":["0x7f40", "0x7f30"], "labels":[null, "cards"]}
{"address":"0x7f30", "type":"object", "class":"0x7f60", "size":96, "references":["0x7f40", "0x7f20", "0x7f10"], "elements":2, "labels":["owner"]}
{"address":"0x7f40", "type":"object", "name":"cards", "class":"0x400", "size":54}
{"address":"0x7f50", "type":"object", "class":"0x7f70", "size":72, "weak":["0x7f30"]}
{"address":"0x7f60", "type":"type", "module":"app.cards", "name":"Deck.Cards", "base":"0x7f70", "class":"0x7f70", "size":1064, "references":["0x7f70"]}
{"address":"0x7f70", "type":"type", "module":"builtins", "name":"type", "class":"0x7f70", "size":900}
{"address":"0x7f80", "type":"frame", "function":"Deck.shuffle", "file":"app.py", "line":12, "class":"0x7f70", "size":440, "references":["0x7f30"], "labels":["self"]}
{"address":"0x7f90", "type":"frame", "function":"Deck.shuffle", "file":"app.py", "line":12, "class":"0x7f70", "size":440, "references":["0x7f80"]}
{"barrow":"end", "objects":9}
"#;
