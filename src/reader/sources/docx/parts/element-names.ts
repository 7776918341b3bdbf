/** Elements that mammoth drops with all that they hold: what they hold is read as if they were not there. */
export const UNWRAPPED: ReadonlySet<string> = new Set(
  "fldSimple dir bdo ruby rubyBase rt AlternateContent Choice Fallback oval line polyline curve arc".split(
    " "
  )
)
/** What mammoth does not read but by another name. */
export const RENAMED: ReadonlyMap<string, string> = new Map([
  ["cr", "br"],
  ["dstrike", "strike"],
  ["ptab", "tab"]
])
export const NOTE_MARKS: ReadonlySet<string> = new Set(["footnoteReference", "endnoteReference"])
/** Words and pictures. */
export const READABLE: ReadonlySet<string> = new Set(["t", "sym", "imagedata", "blip"])
/** What a hidden run does not show. */
export const SHOWN: ReadonlySet<string> = new Set("t tab ptab sym cr br drawing pict".split(" "))
