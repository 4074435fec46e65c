vcl 4.1;

# A site with an API behind it. No document deploys it: the tests beside it show what can be held of a VCL.
probe alive {
  .url = "/alive";
}

backend default {
  .host = "origin.example";
  .probe = alive;
}

backend api {
  .host = "api.example";
  .first_byte_timeout = 5s;
}

acl editors {
  "127.0.0.1";
}

sub vcl_recv {
  if (req.method == "PURGE") {
    if (client.ip !~ editors) {
      return (synth(405));
    }
    return (purge);
  }
  if (req.url ~ "^/api/") {
    set req.backend_hint = api;
    return (pass);
  }
  # Visitors who are counted get the same pages as others.
  unset req.http.Cookie;
  set req.url = regsub(req.url, "[?&]utm_source=[^&]*$", "");
}

sub vcl_backend_response {
  if (beresp.status >= 500 && bereq.is_bgfetch) {
    return (abandon);
  }
  set beresp.grace = 1h;
}

sub vcl_deliver {
  unset resp.http.Server;
}
