import { greatest } from "../../../model/lists.ts"
import type { FontFace } from "../../../model/page-content.ts"

/** Faces that hold nothing but mathematics, by the names that TeX, word processors and their descendants give them. */
const MATH_FACES: ReadonlyArray<RegExp> = [
  /math|^euclid|^mt-?extra|^standardsym|^symbol(?:mt|neu)?(?:$|[-,])/i,
  /^(?:cm|hfbr|cmbr)(?:mi|sy|ex)b?\d|^cmmib|^cmb(?:sy|ex|rmb)|^cmssmi/i,
  /^(?:ms[ab]m|eu[frse][mbx]|rsfs|lasy|wasy|stmary|esint|bbm|dsrom|yhcmex)\d/i,
  /^(?:mt(?:mi|sy|ex|mu|gu)|rmtmi|rtxmi|rpxmi|r?[tp]x(?:b?mi|b?sy|b?ex)|n[tp]x|zptmcm|zplm|fplm|psyr)/i
]

const known = new WeakMap<FontFace, boolean>()

/** Whether a face holds mathematics only. */
export const isMathFace = (face: FontFace | undefined): boolean => {
  if (face === undefined) return false
  let math = known.get(face)
  if (math === undefined) {
    math = MATH_FACES.some((pattern) => pattern.test(face.name))
    known.set(face, math)
  }
  return math
}

/** Relations, operators, arrows and letters of Unicode that are used in formulas alone; Greek letters are a language's, too. */
const MATH_SIGN =
  /[\u00ac\u00b1\u00d7\u00f7\u2016\u2032-\u2037\u2061-\u2064\u2102\u210b-\u2112\u2115\u2119-\u211d\u2124\u2128\u2130-\u2138\u2190-\u21ff\u2200-\u22ff\u2308-\u230b\u239b-\u23b3\u23d0\u23dc-\u23e1\u25a1\u27c0-\u27ff\u2900-\u2aff\u{1d400}-\u{1d7ff}]/u

/** Whether a character is used in formulas alone, whatever its face. */
export const isMathSign = (character: string): boolean => MATH_SIGN.test(character)

/** Signs that distinguish a formula from a row of symbols: relations and computations. */
export const RELATES =
  /[=<>+±×÷·−∓∗∘∙≤≥≦≧⩽⩾≪≫≠≈≡≃≅≐≜≝∼∽≺≻∝∈∉∋⊂⊃⊆⊇⊢⊨→←↔⇒⇐⇔↦⟶⟹⟺⇝∑∏∐∫∬∭∮√∂∇∀∃∧∨∪∩⊕⊗⋃⋂⨁⨂|‖∣∥⊥]|(?:^|\s)(?:-|:)(?:\s|$)/u

/** What a line begins with that continues a formula. */
export const CONTINUES = /^\s*[=<>≤≥≈≡∼≃+−·×⊂⊆→⇒⇔]/u

/** Big operators, which have their limits above and below. */
export const BIG_OPERATOR = /^[∑∏∐∫∬∭∮⋃⋂⋁⋀⨀⨁⨂⨄⨆]$/u
const BIG_OPERATORS = /[∑∏∐∫∬∭∮⋃⋂⋁⋀⨀⨁⨂⨄⨆]/u

/** Whether a text holds a big operator. */
export const hasBigOperator = (text: string): boolean => BIG_OPERATORS.test(text)

/** Relations and arrows that may have words above and below. */
export const RELATION = /^[=≠<>≤≥≈≡∼≃≅≜→←↔⇒⇐⇔⟶⟵⟷⟹⟸⟺↦⟼⇌]$/u

/** Names of functions; those of `LIMITED` have limits below them, as big operators do. */
const FUNCTIONS: ReadonlySet<string> = new Set(
  (
    "arccos arcsin arctan arg argmax argmin card cos cosh cot coth cov corr csc deg det diag dim div erf erfc exp gcd hom iff " +
    "inf ker lim liminf limsup ln log logit max min mod Pr rank sec sgn sign sin sinh span sup supp tan tanh tr trace var vec"
  ).split(" ")
)
export const LIMITED: ReadonlySet<string> = new Set(
  "lim liminf limsup max min sup inf argmax argmin".split(" ")
)

const LONGEST_FUNCTION = greatest([...FUNCTIONS].map(({ length }) => length))

/** Whether a word of upright letters is the name of a function. */
export const isFunctionName = (word: string): boolean =>
  word.length <= LONGEST_FUNCTION && (FUNCTIONS.has(word) || FUNCTIONS.has(word.toLowerCase()))

/** The chemical elements. */
const ELEMENTS =
  "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd " +
  "Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U"
const COMPOUND = new RegExp(`^(?:${ELEMENTS.split(" ").toReversed().join("|")}){2,6}$`)

/** Whether letters are those of a chemical compound: `NaOH`. */
export const isCompound = (word: string): boolean => COMPOUND.test(word)

/** The number of an equation. */
export const EQUATION_NUMBER =
  /^\s*[([]\s*((?:[A-Z]\.?\s?)?\d{1,3}(?:[.\-–]\d{1,3}){0,2}[a-z]?(?:′|'){0,2})\s*[)\]]\s*$/u
