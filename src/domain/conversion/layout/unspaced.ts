const END = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uff60ー]$/u
const START = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uff60ー]/u

/** Whether a text goes on over the end of a line without a space, as Chinese and Japanese do. */
export const isUnspaced = (before: string, after: string): boolean => END.test(before) && START.test(after)
