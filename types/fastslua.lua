---@meta fastslua
-- What require("fastslua") offers, for editors that read LuaLS annotations. No program loads this file; add its folder
-- to Lua.workspace.library. It may only name what the library really has.

---@class fastslua
---@field version string
---@field json fastslua.json
local fastslua = {}

---Anything a handler may return as a short answer: a string is text, a table is JSON, a number a status.
---@alias fastslua.Answer string|table|integer|nil

---@alias fastslua.Handler
---| fun(req: fastslua.Request, res: fastslua.Response, next?: function): fastslua.Answer, (string|table)?, table?

---A handler that calls `next` to go on, `next(err)` to fail.
---@alias fastslua.Middleware fun(req: fastslua.Request, res: fastslua.Response, next: fun(err?: any): any): any

---@class fastslua.Options
---@field host? string IP address, "localhost", or "*" for all of IPv4; default "127.0.0.1"
---@field port integer 0 lets the system choose
---@field backlog? integer default 512
---@field max_connections? integer default 1024
---@field max_connections_per_address? integer default 0, no limit
---@field max_header_bytes? integer default 16384; 431 above
---@field max_headers? integer default 100; 431 above
---@field max_target_bytes? integer default 8192; 414 above
---@field max_body_bytes? integer default 1 MiB; 413 above
---@field max_response_bytes? integer default 64 MiB; 500 above
---@field max_buffered_bytes? integer default 64 MiB for all requests and responses; 503 for what does not fit
---@field max_requests_per_connection? integer default 1000; 0 is no limit
---@field header_timeout? number seconds, default 10
---@field body_timeout? number seconds, default 30
---@field keep_alive_timeout? number seconds, default 60
---@field write_timeout? number seconds, default 30
---@field dispatch_timeout? number seconds, default 30
---@field step_seconds? number time budget of a step, default 0.002
---@field max_accepts_per_step? integer default 64
---@field max_dispatches_per_step? integer default 0, as many as fit the time
---@field max_io_bytes_per_step? integer default 4 MiB
---@field max_io_bytes_per_visit? integer default 64 KiB
---@field allowed_hosts? string[]|"*" names a request may address, default loopback names, IP literals and `host`
---@field allowed_origins? string[]|"*" origins that may change state, default the server's own
---@field trusted_proxies? string[] addresses, networks as "10.0.0.0/8", "loopback", "private"; default none
---@field etag? boolean weak entity tags on answers, default true
---@field proxy_header? "x-forwarded"|"forwarded" what trusted proxies write, default "x-forwarded"
---@field on_error? fun(text: string, req: fastslua.Request, value: any) called when a handler fails
---@field on_log? fun(level: string, text: string, fields: table?)
---@field access_log? fun(line: string, req: fastslua.Request, res: fastslua.Response, seconds: number)

---@class fastslua.RouterOptions
---@field case_sensitive? boolean
---@field strict? boolean a trailing slash counts

---@class fastslua.AppOptions: fastslua.RouterOptions
---@field debug? boolean answers to failures tell the client everything
---@field json? fastslua.JsonEncodeOptions how answers are written

---An Express-style application.
---@param options? fastslua.AppOptions
---@return fastslua.App
function fastslua.app(options) end

---Routes and middleware to be mounted with `use`.
---@param options? fastslua.RouterOptions
---@return fastslua.Router
function fastslua.router(options) end

---@class fastslua.Error
---@field status integer
---@field message string
---@field headers? table<string, string|number|table>
---@field details? any

---An error that carries its status to the client, to be raised or given to `next`.
---@param status integer 400 to 599
---@param message? string
---@param fields? table
---@return fastslua.Error
function fastslua.error(status, message, fields) end

---A client of the application that needs no port: the server behind it lies within the process, and its time stands
---still. The options are those of listen without host, port and backlog.
---@param app fastslua.App|fastslua.Handler
---@param options? table
---@return fastslua.Client
function fastslua.test(app, options) end

---A server whose every request goes to one handler.
---@param options fastslua.Options
---@param handler fastslua.Handler
---@return fastslua.Server? server nil when the address cannot be bound
---@return string? message
---@return string? code the system's name of the error, as "EADDRINUSE"
function fastslua.listen(options, handler) end

---Seconds since the library was loaded, of a clock that never goes back.
---@return number seconds
function fastslua.now() end

---Whether two strings are the same, in a time that depends on the length of `given` alone.
---@param given string what a client sent
---@param expected string the secret
---@return boolean
function fastslua.constant_time_equal(given, expected) end

---Random bytes of the system, as lower-case hexadecimal digits.
---@param bytes integer 1 to 256
---@return string digits two for each byte
function fastslua.random_hex(bytes) end

---@alias fastslua.Event "listening"|"connection"|"disconnect"|"request"|"response"|"error"|"close"

---@class fastslua.Server
local Server = {}

---One bounded turn; never waits.
---@param seconds? number budget of this turn, default `step_seconds`
---@return integer dispatched requests handed to a handler
---@return integer waiting requests that are still to be
function Server:step(seconds) end

---Waits for events and steps, until the server is closed or `until_fn()` is true.
---@param until_fn? fun(): boolean asked after each turn, at least every 50 ms
function Server:run(until_fn) end

---Has fn called whenever this happens.
---@param event fastslua.Event
---@param fn function
---@return fastslua.Server
function Server:on(event, fn) end

---Has fn called the next time this happens.
---@param event fastslua.Event
---@param fn function
---@return fastslua.Server
function Server:once(event, fn) end

---Has fn, or everybody, not called any more.
---@param event fastslua.Event
---@param fn? function
---@return fastslua.Server
function Server:off(event, fn) end

---Cumulative counters.
---@return table<string, any>
function Server:stats() end

---@return string host what is bound
---@return integer port
function Server:address() end

---@return integer port what is bound
function Server:port() end

---Stops accepting, finishes what is in flight until the deadline, then closes. Progresses through `step()`.
---@param seconds? number
function Server:shutdown(seconds) end

---Closes everything now. Safe twice, and from inside a handler.
function Server:close() end

---@class fastslua.Request
---@field id integer
---@field method string
---@field target string as it stands in the request line
---@field path string percent-decoded
---@field raw_path string as it stands in the target
---@field query table<string, string> decoded
---@field query_string string as it stands in the target
---@field params table<string, string> decoded path parameters
---@field version string "1.0" or "1.1"
---@field headers table<string, string> looked up without regard to case
---@field body string?
---@field cookies table<string, string> decoded, the first of each name
---@field remote_address string the client's, as trusted proxies tell it
---@field peer_address string the other end of the socket
---@field remote_port integer of the other end of the socket
---@field connection_id integer which connection of the server it is, from 1
---@field scheme string "http" or "https"
---@field secure boolean whether the scheme is "https"
---@field host string? whom the client asked for, with the port
---@field hostname string? the same without the port
---@field fresh boolean whether the client has what the response in the making would give it
---@field app fastslua.App
---@field route string the path of the route as it was registered
---@field [string] any what a handler puts there
local Request = {}

---The first field of that name, without regard to case.
---@param name string
---@return string?
function Request:header(name) end

---@param name string
---@return string[]
function Request:header_all(name) end

---@param name string
---@return string[]
function Request:query_all(name) end

---The cookie of that name, decoded.
---@param name string
---@return string?
function Request:cookie(name) end

---The body as a value. A body that is no JSON is answered with 400, one of another type with 415.
---@param options? { force?: boolean } force: whatever its type
---@return any
function Request:json(options) end

---The fields of an urlencoded form, decoded, the first of each name.
---@return table<string, string>
function Request:form() end

---@param name string
---@return string[]
function Request:form_all(name) end

---@class fastslua.Part
---@field name string
---@field filename string? without folders; nil when it is no file
---@field type string media type as sent, "text/plain" without one
---@field headers table<string, string> looked up without regard to case
---@field body string

---The parts of a form with files.
---@return fastslua.Part[] parts
---@return table<string, fastslua.Part> by_name the first of each name
function Request:multipart() end

---Whether the request may change what has this entity tag or date now; nil for both when there is nothing.
---@param tag? string in quotation marks
---@param last_modified? string an HTTP date
---@return boolean
function Request:permits(tag, last_modified) end

---The first of these types that the body is of: media types, "text/*", "+json", or short names.
---@param type string|string[]
---@param ... string
---@return string?
function Request:is(type, ...) end

---What the client likes best of these media types or short names.
---@param type string|string[]
---@param ... string
---@return string?
function Request:accepts(type, ...) end

---@param tag string|string[]
---@param ... string
---@return string?
function Request:accepts_languages(tag, ...) end

---@param charset string|string[]
---@param ... string
---@return string?
function Request:accepts_charsets(charset, ...) end

---@param coding string|string[]
---@param ... string
---@return string?
function Request:accepts_encodings(coding, ...) end

---@class fastslua.Response
---@field headers_sent boolean
---@field is_closed boolean the client can no longer be answered
---@field req fastslua.Request?
---@field status_code integer? as it stands; nil once the request is forgotten
---@field bytes integer? bytes of content sent; nil before the answer
---@field [string] any what a handler puts there
local Response = {}

---@param code integer 200 to 599
---@return fastslua.Response
function Response:status(code) end

---Replaces all fields of that name; a list makes one field of each.
---@param name string
---@param value string|number|(string|number)[]
---@return fastslua.Response
function Response:set(name, value) end

---Adds a field beside those of the same name; a list adds one for each value.
---@param name string
---@param value string|number|(string|number)[]
---@return fastslua.Response
function Response:append(name, value) end

---@param name string
---@return string?
function Response:get(name) end

---@param name string
---@return boolean
function Response:has(name) end

---@param name string
---@return boolean removed
function Response:remove(name) end

---Sets Content-Type.
---@param name string a media type, or a short name such as "json" or "png"
---@return fastslua.Response
function Response:type(name) end

---@class fastslua.CookieOptions
---@field path? string default "/"
---@field domain? string default this host alone
---@field max_age? integer seconds
---@field expires? integer seconds since 1970
---@field secure? boolean
---@field http_only? boolean
---@field same_site? "strict"|"lax"|"none"
---@field partitioned? boolean

---Adds a Set-Cookie. What a browser would drop raises an error.
---@param name string
---@param value string|number any bytes
---@param options? fastslua.CookieOptions
---@return fastslua.Response
function Response:cookie(name, value, options) end

---Has a cookie forgotten that was set with this path and domain.
---@param name string
---@param options? fastslua.CookieOptions
---@return fastslua.Response
function Response:clear_cookie(name, options) end

---Adds names to Vary that it does not have yet.
---@param name string|string[]
---@param ... string
---@return fastslua.Response
function Response:vary(name, ...) end

---Adds a Link for each relation.
---@param links table<string, string> URLs by relation
---@return fastslua.Response
function Response:links(links) end

---Has the content saved under this name.
---@param filename? string
---@return fastslua.Response
function Response:attachment(filename) end

---Ends the response. A string is text when no type was set, a table is JSON.
---@param body? string|table
---@return boolean sent false when the client has gone
function Response:send(body) end

---@param value any
---@return boolean sent
function Response:json(value) end

---@param text string
---@return boolean sent
function Response:text(text) end

---@param html string
---@return boolean sent
function Response:html(html) end

---@param url string
---@param code? integer default 302
---@return boolean sent
function Response:redirect(url, code) end

---Ends the response without a body.
---@return boolean sent
function Response:finish() end

---Has a function called when the request has its answer, also when a handler has failed.
---@param fn fun(req: fastslua.Request, res: fastslua.Response)
---@return fastslua.Response
function Response:on_finish(fn) end

---@class fastslua.JsonEncodeOptions
---@field sort_keys? boolean members in the order of the bytes of their names
---@field empty? "object"|"array" what an empty table without a mark is
---@field invalid_utf8? "refuse"|"replace"
---@field max_depth? integer tables inside one another, 1 to 128
---@field max_bytes? integer bytes of the text, 1 to 64 MiB

---@class fastslua.json
---@field null lightuserdata
local json = {}

---The text. Raises with the path to what has no JSON form.
---@param value any
---@param options? fastslua.JsonEncodeOptions
---@return string
function json.encode(value, options) end

---The value, or nil and what is wrong with the text.
---@param text string
---@param options? { invalid_utf8?: "refuse"|"replace", max_depth?: integer }
---@return any value
---@return string? message
function json.decode(text, options) end

---Marks a table as an array, so that it is one even when empty.
---@generic T: table
---@param t? T
---@return T
function json.array(t) end

---Marks a table as an object.
---@generic T: table
---@param t? T
---@return T
function json.object(t) end

return fastslua
