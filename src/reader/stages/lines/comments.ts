/** What begins a comment in code alone, and what begins other words as well: a number, a value that is missing. */
const SURE = String.raw`\/\/|\/\*|;+`
const OTHER = String.raw`#|--|%+`

const BEGINS = new RegExp(`^(?:${SURE}|${OTHER})`)
const ALONE = new RegExp(String.raw`(?:^|\s)(?:${SURE}|${OTHER})\s*$`)
const CERTAIN = new RegExp(String.raw`^(?:(?:${SURE})\s?|#\s)\S`)

/** Whether words behind code are a comment. */
export const isComment = (text: string): boolean => BEGINS.test(text)

/** True when words are a comment, whatever precedes them. */
export const isSureComment = (text: string): boolean => CERTAIN.test(text)

/** Whether a comment begins at the end of code: what follows is in another face. */
export const endsInComment = (text: string): boolean => ALONE.test(text)

const DIRECTIVE = /^#\s?(?:include|define|undef|if|ifn?def|else|endif|pragma)\b/

/** Whether a line is one that C's preprocessor reads. */
export const isDirective = (text: string): boolean => DIRECTIVE.test(text)
