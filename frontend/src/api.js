// Requests to the studio: JSON there and back; an error carries the server's words.

export class ApiError extends Error {
  constructor(status, content) {
    super(content?.error ?? "The studio does not answer. Is it still running in its terminal?");
    this.status = status;
    this.content = content;
  }
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new ApiError(0, null);
  }
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  const content = isJson ? await response.json() : { error: await response.text() };
  if (!response.ok) throw new ApiError(response.status, content);
  return content;
}

export const get = (path) => request(path, {});

export const post = (path, content = {}) =>
  request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content) });

export const upload = (file) =>
  request(`/api/upload?name=${encodeURIComponent(file.name)}`, {
    method: "POST",
    headers: { "Content-Type": "application/octet-stream" },
    body: file,
  });

// Events of the studio; where the connection breaks, the browser makes it again by itself.
export function listen(onEvent, onConnection) {
  const source = new EventSource("/api/events");
  source.onmessage = (message) => onEvent(JSON.parse(message.data));
  source.onopen = () => onConnection(true);
  source.onerror = () => onConnection(false);
  return () => source.close();
}
