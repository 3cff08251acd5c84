// node.js [PORT]: Node's own http server with the routes that the capacity scenarios ask, to compare with.
"use strict";
const http = require("node:http");

const server = http.createServer((request, response) => {
  if (request.url === "/health") {
    response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8", "Content-Length": 2 });
    response.end("OK");
  } else if (request.url.startsWith("/units/")) {
    const body = JSON.stringify({ id: decodeURIComponent(request.url.slice(7)), alive: true });
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
    response.end(body);
  } else {
    response.writeHead(404, { "Content-Length": 0 });
    response.end();
  }
});
server.keepAliveTimeout = 60000;
server.listen({ host: "127.0.0.1", port: Number(process.argv[2] || 0), backlog: 512 }, () => {
  console.log(`node on http://127.0.0.1:${server.address().port}`);
});
