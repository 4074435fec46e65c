vcl 4.1;

# A real site names its origin here; this one answers by itself.
backend default none;

include "greeting.vcl";

sub vcl_recv {
  return (synth(200, "OK"));
}

sub vcl_synth {
  call greet;
  return (deliver);
}
