/** Faults that change nothing, by the file or function and by what they are about, with the reason. */
export const EQUIVALENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {}
