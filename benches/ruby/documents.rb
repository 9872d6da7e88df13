# Parses documents into nested hashes, arrays and objects, with allocation tracing, and dumps the heap.
#
#   ruby benches/ruby/documents.rb DOCUMENTS DUMP
#
# 1,500 documents make a dump of about a gigabyte.

require "json"
require "objspace"

documents, dump = Integer(ARGV.fetch(0)), ARGV.fetch(1)

class Document
  def initialize(title, sections)
    @title = title
    @sections = sections
    @index = Hash.new { |index, word| index[word] = [] }
    sections.each { |section| section.words.each { |word| @index[word] << section } }
  end
end

class Section
  attr_reader :words

  def initialize(fields)
    @fields = fields
    @words = fields["text"].scan(/\w+/)
  end
end

Author = Struct.new(:name, :mail)

# Always the same documents.
random = Random.new(42)
vocabulary = Array.new(5_000) { |number| format("word%d%s", number, "s" * random.rand(8)) }
write = lambda do |number|
  sections = Array.new(60) do |section|
    { "number" => section, "text" => vocabulary.sample(24, random: random).join(" "),
      "tags" => vocabulary.sample(5, random: random), "ratio" => random.rand * 1e300 }
  end
  JSON.generate("title" => "Document #{number}", "author" => "author#{number % 97}", "sections" => sections)
end

ObjectSpace.trace_object_allocations_start
library = Array.new(documents) do |number|
  fields = JSON.parse(write.call(number))
  author = Author.new(fields["author"], "#{fields['author']}@example.org")
  [author, Document.new(fields["title"], fields["sections"].map { |section| Section.new(section) })]
end
GC.start
File.open(dump, "w") { |file| ObjectSpace.dump_all(output: file) }
warn "#{library.size} documents, #{File.size(dump)} bytes"
