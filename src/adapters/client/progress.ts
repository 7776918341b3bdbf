import type { RawBody } from "./generated/types.ts"

/** How much of a body has been handed to the connection. `total` is undefined where the body is a stream or a form. */
export interface UploadProgress {
  readonly sent: number
  readonly total: number | undefined
}

const PIECE_BYTES = 64 * 1024

const sizeOf = (body: RawBody): number | undefined => {
  if (body instanceof Blob) return body.size
  if (body instanceof ArrayBuffer || body instanceof Uint8Array) return body.byteLength
  return undefined
}

const streamOf = (body: RawBody): ReadableStream<Uint8Array<ArrayBuffer>> | undefined => {
  if (body instanceof ReadableStream) return body
  if (body instanceof Blob) return body.stream()
  if (!(body instanceof ArrayBuffer || body instanceof Uint8Array)) return undefined
  const bytes = body instanceof Uint8Array ? body : new Uint8Array(body)
  let at = 0
  return new ReadableStream({
    pull: (controller) => {
      if (at >= bytes.byteLength) return controller.close()
      controller.enqueue(bytes.subarray(at, at + PIECE_BYTES))
      at += PIECE_BYTES
    }
  })
}

/** The same request with its body counted as it goes out, where the runtime can send a stream. */
export const counted = (
  init: RequestInit,
  body: RawBody,
  onProgress: (progress: UploadProgress) => void
): RequestInit => {
  const stream = streamOf(body)
  if (stream === undefined) return init
  const total = sizeOf(body)
  let sent = 0
  const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: (piece, controller) => {
      controller.enqueue(piece)
      sent += piece.byteLength
      onProgress({ sent, total })
    }
  })
  return { ...init, body: stream.pipeThrough(counter), duplex: "half" } as RequestInit
}

/** Headers as `XMLHttpRequest` lists them. */
const listed = (text: string): Headers => {
  const headers = new Headers()
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":")
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  return headers
}

const WITHOUT_BODY = new Set([204, 205, 304])

/** Sends by `XMLHttpRequest`: browsers report the progress of an upload nowhere else. */
export const sendByXhr = (
  url: string,
  init: RequestInit,
  onProgress: (progress: UploadProgress) => void,
  maxBytes: number
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const broken = () => reject(new TypeError("the upload broke off"))
    // No event comes any more: the caller left before this attempt began.
    if (init.signal?.aborted === true) return broken()
    request.open(init.method ?? "POST", url)
    new Headers(init.headers).forEach((value, name) => request.setRequestHeader(name, value))
    request.responseType = "arraybuffer"
    request.withCredentials = init.credentials === "include"
    request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) =>
      onProgress({ sent: loaded, total: lengthComputable ? total : undefined })
    )
    request.addEventListener("progress", ({ loaded }) => {
      if (loaded > maxBytes) request.abort()
    })
    for (const event of ["error", "abort", "timeout"]) request.addEventListener(event, broken)
    request.addEventListener("load", () => {
      const { status } = request
      const body = WITHOUT_BODY.has(status) ? null : (request.response as ArrayBuffer)
      resolve(new Response(body, { status, headers: listed(request.getAllResponseHeaders()) }))
    })
    init.signal?.addEventListener("abort", () => request.abort(), { once: true })
    request.send(init.body as XMLHttpRequestBodyInit)
  })
