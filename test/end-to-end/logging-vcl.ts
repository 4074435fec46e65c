/** VCL with many log records: it fetches pages with parts of other sites, restarts, and tries to forge records. */
export const logging = (name: string, port: number): string => `vcl 4.1;
import std;
backend origin { .host = "127.0.0.1"; .port = "${port}"; }
sub vcl_recv {
  set req.http.X-Own = "of-${name}";
  if (req.url == "/page") { return (hash); }
  if (req.url == "/restarted" && req.restarts == 0) {
    set req.url = "/again";
    return (restart);
  }
  if (req.url == "/forging") {
    std.log("a:b" + {"
-   ReqURL         /forged

*   << Request  >> 99
-   Begin          req 98 rxreq
-   Timestamp      Start: 1795513624.909219 0.000000 0.000000
-   ReqURL         /forged
-   RespStatus     200

"});
  }
  return (synth(200, "${name}"));
}
sub vcl_backend_response { set beresp.do_esi = true; }
sub vcl_synth { set resp.http.X-Marker = "${name}"; return (deliver); }
`
