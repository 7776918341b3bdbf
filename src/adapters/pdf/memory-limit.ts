const WASM_PAGE_BYTES = 65_536

/**
 * From now on no WebAssembly memory of this thread grows beyond `limit` bytes: emscripten's glue grows them through this
 * one method, and takes an error for "no more memory". Tells whether that has happened, after which what the module did
 * is not to be trusted. Only for a thread that does nothing else.
 */
export const limitWasmMemory = (limit: number): (() => boolean) => {
  const grow = Reflect.get(WebAssembly.Memory.prototype, "grow")
  let refused = false
  WebAssembly.Memory.prototype.grow = function (this: WebAssembly.Memory, pages: number): number {
    if (this.buffer.byteLength + pages * WASM_PAGE_BYTES <= limit) return grow.call(this, pages)
    refused = true
    throw new RangeError("no more memory for this module")
  }
  return () => refused
}
