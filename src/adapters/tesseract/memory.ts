const WASM_PAGE_BYTES = 65_536

/**
 * From now on no WebAssembly memory of this thread grows beyond `limit` bytes; a module that asks for more fails. Returns how large
 * the largest has grown. Only for a thread that does nothing else.
 */
export const limitWasmMemory = (limit: number): (() => number) => {
  const grow = Reflect.get(WebAssembly.Memory.prototype, "grow")
  let most = 0
  WebAssembly.Memory.prototype.grow = function (this: WebAssembly.Memory, pages: number): number {
    const bytes = this.buffer.byteLength + pages * WASM_PAGE_BYTES
    if (bytes > limit) throw new RangeError("no more memory for this module")
    const before = grow.call(this, pages)
    most = Math.max(most, bytes)
    return before
  }
  return () => most
}
