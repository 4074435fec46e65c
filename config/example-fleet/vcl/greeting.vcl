sub greet {
  set resp.http.Content-Type = "text/plain; charset=utf-8";
  set resp.body = "Hello from the news" + {"
"};
}
