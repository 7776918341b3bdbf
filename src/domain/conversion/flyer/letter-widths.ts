/** Widths of Helvetica from the space to the tilde, thousandths of its size (Adobe's AFM file); Arial and Liberation Sans have the same. */
const WIDTHS = [
  278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
  556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
  500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
  556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
  278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584
]

/** Of a letter that is not in the table. */
const USUAL = 556

const WIDE = /[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60]/

/** About how wide a text is in a plain face, in sizes of it. */
export const plainWidth = (text: string): number => {
  let width = 0
  for (const letter of text) {
    const known = WIDTHS[(letter.codePointAt(0) ?? 0) - 32]
    if (known !== undefined) width += known / 1000
    else if (WIDE.test(letter)) width += 1
    else if (!/\p{M}/u.test(letter))
      width += (WIDTHS[letter.normalize("NFD").charCodeAt(0) - 32] ?? USUAL) / 1000
  }
  return width
}
