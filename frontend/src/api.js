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

// What tells this tab from others of the same studio.
export const TAB = crypto.getRandomValues(new Uint32Array(3)).join("-");

export const get = (path) => request(path, {});

// With a signal, the request can be given up: the studio then ends what it computes for it.
export const post = (path, content = {}, signal = undefined) =>
  request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content), signal });

// The same for what must not be lost with a page that closes meanwhile; browsers take little that way.
const LITTLE = 60_000;
export const postToKeep = (path, content) => {
  const body = JSON.stringify(content);
  const keepalive = body.length < LITTLE;
  return request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body, keepalive });
};

// A file to keep, under the name that the studio gives it.
export async function download(path) {
  const response = await fetch(path, { credentials: "same-origin", cache: "no-store" }).catch(() => null);
  if (!response?.ok) throw new ApiError(response?.status ?? 0, await response?.json().catch(() => null));
  const name = response.headers.get("content-disposition")?.match(/filename="?([^";]+)"?/)?.[1] ?? "download";
  keepFile(await response.blob(), name);
}

export function keepFile(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export const upload = (file) =>
  request(`/api/upload?name=${encodeURIComponent(file.name)}`, {
    method: "POST",
    headers: { "Content-Type": "application/octet-stream" },
    body: file,
  });

const AGAIN = 1_000; // milliseconds until a connection that was refused is tried again

// Events of the studio. A browser makes a broken connection again by itself, but gives one up that was refused: as by a
// studio that started anew, until its address was opened in some tab. It has six connections to one server for all tabs
// together, so that a tab that nobody sees gives its own back, and hears what happened when it is seen again.
export function listen(onEvent, onBroken) {
  let source = null;
  let timer = null;
  const connect = () => {
    source = new EventSource("/api/events");
    source.onmessage = (message) => onEvent(JSON.parse(message.data));
    source.onerror = () => {
      onBroken();
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(connect, AGAIN);
    };
  };
  const disconnect = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  const onVisibility = () => {
    if (document.hidden) disconnect();
    else if (!source) connect();
  };
  onVisibility();
  document.addEventListener("visibilitychange", onVisibility);
  return () => {
    document.removeEventListener("visibilitychange", onVisibility);
    disconnect();
  };
}
