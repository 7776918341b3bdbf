/** Codes of Unicode's private area that Adobe's list of glyph names gives to glyphs, and fonts and programs after it. */

/** Pieces of brackets, from this code on. */
const FIRST_PIECE = 0xf8eb
const PIECES = "⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪⎮⎞⎟⎠⎤⎥⎦⎫⎬⎭"

/** Small capitals and old-style figures have the codes of Latin 1's small letters and figures behind this one. */
const SMALL = 0xf700
const SMALL_LETTERS = /[a-zß-öø-ÿ0-9&!?$¢¡¿]/

/**
 * The character of a private-use code; undefined where the code has a different meaning in each font, and for any other
 * code.
 */
export const privateCharacter = (code: number): number | undefined => {
  if (code >= FIRST_PIECE) return PIECES.codePointAt(code - FIRST_PIECE)
  return code > SMALL && SMALL_LETTERS.test(String.fromCodePoint(code - SMALL)) ? code - SMALL : undefined
}
