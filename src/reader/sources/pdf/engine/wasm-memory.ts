/** Bytes reserved for results that a call returns by pointer; enough for every call. */
const SCRATCH_BYTES = 256
/** Longest text that is read from one call, in bytes. What is longer was not meant for people. */
const MAX_TEXT_BYTES = 1024 * 1024

/** Reads C's values from the memory of a wasm module, which moves whenever it grows. */
export class WasmMemory {
  /** Scratch space for out-parameters of the present call; 8-aligned. */
  readonly scratch: number
  readonly #memory: WebAssembly.Memory
  readonly #malloc: (size: number) => number
  readonly #free: (pointer: number) => number
  #bytes: Uint8Array
  #ints: Int32Array
  #floats: Float32Array
  #doubles: Float64Array
  #text: number
  #textBytes = 4096
  readonly #utf16 = new TextDecoder("utf-16le")

  constructor(
    memory: WebAssembly.Memory,
    malloc: (size: number) => number,
    free: (pointer: number) => number
  ) {
    this.#memory = memory
    this.#malloc = malloc
    this.#free = free
    this.scratch = malloc(SCRATCH_BYTES)
    this.#text = malloc(this.#textBytes)
    this.#bytes = new Uint8Array(memory.buffer)
    this.#ints = new Int32Array(memory.buffer)
    this.#floats = new Float32Array(memory.buffer)
    this.#doubles = new Float64Array(memory.buffer)
  }

  #renew(): void {
    // Growth detaches the buffer; asking the memory for its buffer each time would take longer than reading from it.
    if (this.#bytes.length > 0) return
    const { buffer } = this.#memory
    this.#bytes = new Uint8Array(buffer)
    this.#ints = new Int32Array(buffer)
    this.#floats = new Float32Array(buffer)
    this.#doubles = new Float64Array(buffer)
  }

  /** All of it as floats, valid until the next call: for loops that read several. */
  get floats(): Float32Array {
    this.#renew()
    return this.#floats
  }
  /** All of it, valid until the next call. */
  get bytes(): Uint8Array {
    this.#renew()
    return this.#bytes
  }
  get size(): number {
    return this.#memory.buffer.byteLength
  }
  int(pointer: number): number {
    this.#renew()
    return this.#ints[pointer >>> 2] ?? 0
  }
  uint(pointer: number): number {
    return this.int(pointer) >>> 0
  }
  setInt(pointer: number, value: number): void {
    this.#renew()
    this.#ints[pointer >>> 2] = value
  }
  float(pointer: number): number {
    this.#renew()
    return this.#floats[pointer >>> 2] ?? 0
  }
  double(pointer: number): number {
    this.#renew()
    return this.#doubles[pointer >>> 3] ?? 0
  }
  /** A copy. */
  slice(pointer: number, length: number): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(pointer, pointer + length)
  }

  /** Has `write(buffer, size)` put bytes into a buffer and return their number, more than `size` if they do not fit. */
  #filled(write: (buffer: number, size: number) => number): Uint8Array {
    let length = write(this.#text, this.#textBytes)
    if (length > this.#textBytes && length <= MAX_TEXT_BYTES) {
      this.#free(this.#text)
      this.#textBytes = length
      this.#text = this.#malloc(length)
      length = write(this.#text, length)
    }
    return length > this.#textBytes || length <= 0
      ? new Uint8Array()
      : this.bytes.subarray(this.#text, this.#text + length)
  }

  /** UTF-16LE with a NUL at its end, like most of pdfium's texts; empty where there is no text. */
  utf16(write: (buffer: number, size: number) => number): string {
    const bytes = this.#filled(write)
    return bytes.length < 4 ? "" : this.#utf16.decode(bytes.subarray(0, bytes.length - 2))
  }
  /** The same where the call reports the length in bytes through a pointer and returns whether it worked. */
  utf16By(write: (buffer: number, size: number, length: number) => number): string {
    const { scratch } = this
    return this.utf16((buffer, size) => (write(buffer, size, scratch) === 0 ? 0 : this.uint(scratch)))
  }
  /** Bytes as they are, where the call reports their number through a pointer and returns whether it worked. */
  bytesBy(write: (buffer: number, size: number, length: number) => number): Buffer {
    const { scratch } = this
    return Buffer.from(
      this.#filled((buffer, size) => (write(buffer, size, scratch) === 0 ? 0 : this.uint(scratch)))
    )
  }
  /** Bytes with a NUL at their end, one character each; UTF-8 where they are. */
  ascii(write: (buffer: number, size: number) => number): string {
    const bytes = this.#filled(write)
    return Buffer.from(bytes.subarray(0, Math.max(0, bytes.length - 1))).toString("utf8")
  }

  /** Runs `use` with a C string, which is gone afterwards. */
  withString<A>(text: string, use: (pointer: number) => A): A {
    const encoded = Buffer.from(`${text}\0`, "utf8")
    const pointer = this.#malloc(encoded.length)
    this.bytes.set(encoded, pointer)
    try {
      return use(pointer)
    } finally {
      this.#free(pointer)
    }
  }
}
