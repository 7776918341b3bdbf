import { createRequire } from "node:module"
import { basename, dirname } from "node:path"

import { fileOf } from "./binary.ts"
import { stackOf, withInstances } from "./wasm-stack.ts"

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
  readonly locateFile: () => string
  readonly noInitialRun: boolean
  /** Called with the module before it starts. */
  readonly preRun: ReadonlyArray<(module: QpdfModule) => void>
}

/** Folder of qpdf's file system that the input's folder is mounted on. */
export const QPDF_INPUT = "/in"

/** Its stack, and what a function takes of it that calls nothing outside. */
const STACK_BYTES = 64 * 1024
const RESERVE_BYTES = 8 * 1024

const PACKAGE = "@neslinesli93/qpdf-wasm"

/** A fresh qpdf; its warnings go nowhere. */
export const loadQpdf = async (): Promise<Qpdf> => {
  // The package comes without types of its file system.
  const load = createRequire(import.meta.url)
  const factory = load(fileOf(PACKAGE)) as (options: Options) => Promise<QpdfModule>
  let written: Array<number> = []
  const { guard, instances, module } = await withInstances(() =>
    factory({
      locateFile: () => fileOf(`${PACKAGE}/dist/qpdf.wasm`),
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
  if (stack === undefined)
    throw new Error(`${PACKAGE} is another build: the names of its stack's functions are not known`)
  guard.floor = stack.save() - STACK_BYTES + RESERVE_BYTES
  guard.save = stack.save
  module.FS.mkdir(QPDF_INPUT)
  return {
    FS: module.FS,
    NODEFS: module.NODEFS,
    callMain: (args) => {
      written = []
      // It never pops its arguments off the stack, nor the frames of an aborted run: the 64 KiB would overflow after some
      // thousand pages and overwrite the memory below.
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

// qpdf's exit codes.
export const SUCCESS = 0
export const WARNINGS = 3

/** Runs qpdf with a file, which it finds as `input`; returns its exit code. */
export const callQpdf = (
  { callMain, FS, NODEFS }: Qpdf,
  path: string,
  args: (input: string) => ReadonlyArray<string>
): number => {
  FS.mount(NODEFS, { root: dirname(path) }, QPDF_INPUT)
  try {
    return callMain(["--no-warn", ...args(`${QPDF_INPUT}/${basename(path)}`)])
  } finally {
    FS.unmount(QPDF_INPUT)
  }
}
