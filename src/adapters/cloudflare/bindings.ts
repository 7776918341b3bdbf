/** An object of a bucket: the members that are used here. */
interface BucketObject {
  readonly key: string
  readonly size: number
}

/** A multipart upload: every part but the last has the same size, 5 MiB at least. */
export interface BucketUpload {
  readonly uploadPart: (number: number, bytes: Uint8Array) => Promise<UploadedPart>
  readonly complete: (parts: Array<UploadedPart>) => Promise<unknown>
  readonly abort: () => Promise<unknown>
}

/** What names a part when its upload is completed. */
export interface UploadedPart {
  readonly partNumber: number
  readonly etag: string
}

interface WriteOptions {
  readonly httpMetadata: { readonly contentType: string }
  /** Written only where this holds; else `put` gives null. */
  readonly onlyIf?: { readonly etagDoesNotMatch: string }
}

/** The part of an R2 bucket binding that is used (workers-types 5, `R2Bucket`). */
export interface Bucket {
  readonly head: (key: string) => Promise<BucketObject | null>
  readonly get: (
    key: string,
    options?: { readonly range: { readonly offset: number } }
  ) => Promise<(BucketObject & { readonly body: ReadableStream<Uint8Array> }) | null>
  readonly put: (key: string, bytes: Uint8Array, options: WriteOptions) => Promise<unknown>
  readonly createMultipartUpload: (key: string, options: WriteOptions) => Promise<BucketUpload>
  readonly list: (options: {
    readonly prefix?: string
    readonly limit?: number
    readonly cursor?: string
  }) => Promise<{
    readonly objects: ReadonlyArray<BucketObject>
    readonly truncated: boolean
    readonly cursor?: string
  }>
  readonly delete: (keys: Array<string>) => Promise<void>
}

/** A service binding: requests go to another worker, without a network between. */
export interface ServiceBinding {
  readonly fetch: (request: Request) => Promise<Response>
}

/** A mail from the routing service; `from` and `to` are the envelope's (workers-types 5, `ForwardableEmailMessage`). */
export interface EmailMessage {
  readonly from: string
  readonly to: string
  readonly headers: Headers
  /** Can be read once. */
  readonly raw: ReadableStream<Uint8Array>
  readonly rawSize: number
  /** Refuses the mail permanently: the sender's server gets a 5xx with this reason. */
  readonly setReject: (reason: string) => void
}

/** What lets work go on after a handler has answered. */
export interface Invocation {
  readonly waitUntil: (work: Promise<unknown>) => void
}

const hasFunctions = (value: unknown, ...names: ReadonlyArray<string>): boolean =>
  typeof value === "object" &&
  value !== null &&
  names.every((name) => typeof Reflect.get(value, name) === "function")

/** Whether a binding is a bucket, and not a text of that name. */
export const isBucket = (value: unknown): value is Bucket =>
  hasFunctions(value, "get", "put", "list", "createMultipartUpload")

export const isServiceBinding = (value: unknown): value is ServiceBinding => hasFunctions(value, "fetch")
