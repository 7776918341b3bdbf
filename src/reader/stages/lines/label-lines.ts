import type { Line } from "./line.ts"
import { startsUnspaced } from "./script-direction.ts"

/** A label of a script without spaces before its value, behind a number where there is one: `（一）公司名称：`, `联系电话：`. */
const LABEL =
  /^(?:[（(]?[\p{N}一二三四五六七八九十]{1,3}[)）、.．]\s?)?[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー・（）()/\s]{1,16}[：:]/u

const isLabelled = (text: string): boolean => LABEL.test(text) && startsUnspaced(text)

/** Room on a line for the next one's first signs, in font sizes: such a script breaks its lines anywhere, so that full ones leave none. */
const ROOM = 0.6

/** Whether a line with a label begins a paragraph: the line above has a label, too, or had room for it. */
export const beginsLabel = (above: Line, line: Line, room: number): boolean =>
  isLabelled(line.text) &&
  Math.abs(line.x0 - above.x0) < line.size &&
  (isLabelled(above.text) || room > ROOM * line.size)
