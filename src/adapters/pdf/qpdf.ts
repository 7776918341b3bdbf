import { createRequire } from "node:module"

/** The part of emscripten's file system that is used. */
interface FileSystem {
  /** Where standard input comes from (null: its end), and where each byte of output and errors goes. */
  readonly init: (input: () => null, output: (byte: number) => void, error: (byte: number) => void) => void
  readonly mkdir: (path: string) => void
  readonly mount: (type: unknown, options: { readonly root: string }, mountPoint: string) => void
  readonly unmount: (mountPoint: string) => void
  readonly readdir: (path: string) => ReadonlyArray<string>
  readonly readFile: (path: string) => Uint8Array<ArrayBuffer>
  readonly stat: (path: string) => { readonly size: number }
  readonly unlink: (path: string) => void
  readonly rmdir: (path: string) => void
}

interface QpdfModule {
  /** Its memory; another one whenever that has grown. */
  readonly HEAPU8: Uint8Array
  readonly FS: FileSystem
  readonly NODEFS: unknown
  /** Runs it to its end; 0 is success, 3 success with warnings. */
  readonly callMain: (args: ReadonlyArray<string>) => number
}

/** The qpdf command. */
export interface Qpdf extends Omit<QpdfModule, "HEAPU8"> {
  /** What the last run wrote to its standard output. */
  readonly output: () => string
  /** Size of its memory in bytes. */
  readonly memoryBytes: () => number
}

interface Options {
  readonly noInitialRun: boolean
  /** Called with the module before it starts. */
  readonly preRun: ReadonlyArray<(module: QpdfModule) => void>
}

const require = createRequire(import.meta.url)

/** Folder of qpdf's file system that the input's folder is mounted on. */
export const QPDF_INPUT = "/in"

const PACKAGE = "@neslinesli93/qpdf-wasm"

let loading: Promise<unknown> = Promise.resolve()

/** Loads a module, and tells which instances of WebAssembly were made meanwhile; one after the other. */
const withInstances = <A>(load: () => Promise<A>) => {
  const loaded = loading.then(async () => {
    const { instantiate } = WebAssembly
    const instances: Array<WebAssembly.Instance> = []
    const watched = async (bytes: BufferSource, imports?: WebAssembly.Imports) => {
      const source = await instantiate(bytes, imports)
      instances.push(source.instance)
      return source
    }
    Object.assign(WebAssembly, { instantiate: watched })
    try {
      return { module: await load(), instances }
    } finally {
      Object.assign(WebAssembly, { instantiate })
    }
  })
  loading = loaded.catch(() => undefined)
  return loaded
}

/** emscripten's `stackAlloc`, `stackSave` and `stackRestore`, as this build of the package calls them. */
const STACK_NAMES = ["ia", "ja", "ha"]

type Call = (value?: number) => number

/**
 * The stack of the module: `callMain` puts its arguments there and never takes them off, nor what stood there when qpdf ended in the
 * midst. Its 64 KiB would be full after some thousand pages, and what lies below them overwritten.
 */
const stackOf = (instances: ReadonlyArray<WebAssembly.Instance>, memory: ArrayBufferLike) => {
  for (const { exports } of instances) {
    const [allocate, save, restore] = STACK_NAMES.map((name) => exports[name] as Call | undefined)
    const isItsOwn = Object.values(exports).some(
      (one) => one instanceof WebAssembly.Memory && one.buffer === memory
    )
    if (!isItsOwn || !allocate || !save || !restore) continue
    const top = save()
    const isTheStack = allocate(16) === top - 16 && save() === top - 16
    restore(top)
    if (isTheStack && save() === top) return { save, restore }
  }
  throw new Error(`${PACKAGE} is another build: the names of its stack's functions are not known`)
}

/** A fresh qpdf; its warnings go nowhere. */
export const loadQpdf = async (): Promise<Qpdf> => {
  // The package comes without types of its file system.
  const factory = require(PACKAGE) as (options: Options) => Promise<QpdfModule>
  let written: Array<number> = []
  const { instances, module } = await withInstances(() =>
    factory({
      noInitialRun: true,
      preRun: [
        ({ FS }) =>
          FS.init(
            () => null,
            (byte) => void written.push(byte),
            () => undefined
          )
      ]
    })
  )
  const stack = stackOf(instances, module.HEAPU8.buffer)
  module.FS.mkdir(QPDF_INPUT)
  return {
    FS: module.FS,
    NODEFS: module.NODEFS,
    callMain: (args) => {
      written = []
      const top = stack.save()
      try {
        return module.callMain(args)
      } finally {
        stack.restore(top)
      }
    },
    output: () => Buffer.from(written).toString("utf8"),
    memoryBytes: () => module.HEAPU8.buffer.byteLength
  }
}
