/** What a process answers to a task. `failed`: the program threw. */
export type FromChild =
  | { readonly kind: "answered"; readonly answer: unknown; readonly residentBytes: number }
  | { readonly kind: "failed"; readonly cause: string }
