# Builds a growing heap of documents, an inverted index over their words, and caches.
class Word { has Str $.text; has Int $.count is rw = 0; has @.places }
class Document { has Int $.id; has Str $.title; has @.words; has %.meta }
my %index;
my @docs;
my @recent;
my $seed = 42;
sub rnd($n) { $seed = ($seed * 1103515245 + 12345) % 2147483648; $seed % $n }
for ^3700 -> $i {
    my @w = (^25).map({ 'w' ~ rnd(4000) });
    my $d = Document.new(id => $i, title => "Document $i", words => @w, meta => { author => "a" ~ rnd(50), year => 1980 + rnd(45) });
    @docs.push($d);
    for @w -> $t {
        my $e = %index{$t} //= Word.new(text => $t);
        $e.count++;
        $e.places.push($d);
    }
    @recent.push({ doc => $d, at => $i }); @recent.shift if @recent > 200;
}
say @docs.elems, ' ', %index.elems;
