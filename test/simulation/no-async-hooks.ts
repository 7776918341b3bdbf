/**
 * Effect keeps Node's async context over each wait of a fiber; nothing in a simulation has one, and each costs time.
 * This module has to be imported before Effect is.
 */
const builtin = process.getBuiltinModule
process.getBuiltinModule = ((id: string) =>
  id === "node:async_hooks" ? undefined : builtin(id)) as typeof builtin

export {}
