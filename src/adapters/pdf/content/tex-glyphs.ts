/**
 * What a face without a name has below its letters: TeX's bitmaps of its own, whose codes say nothing to a reader of PDF. Ligatures stand
 * from 11 on in Knuth's encoding and from 27 on in Cork's, whose quotation marks and dashes stand between; what differs otherwise is
 * left out.
 */
const [LIGATURES, NOTHING] = ["ﬀﬁﬂﬃﬄ", "\0"]
const NAMELESS = `${NOTHING.repeat(11)}${LIGATURES}“”${NOTHING.repeat(3)}–—${NOTHING.repeat(4)}${LIGATURES}`

/**
 * TeX's faces for mathematics name their glyphs in ways that no list of Unicode names knows (`lscript`, `parenleftbigg`,
 * `summationdisplay`), so that a reader of PDF reports the bare code. The codes are those of Knuth's and the AMS's encodings, from
 * 0 on; a space stands where a glyph has no character.
 */
const ENCODINGS: ReadonlyArray<readonly [RegExp, string]> = [
  [/^$/, NAMELESS],
  // OML: letters.
  [
    /^(?:CMMI|CMMIB|LMMathItalic|MTMI|RMTMI|r?txmi|r?txbmi|ntxmi|pxmi|npxmi|zplmr7m|HFBRMI|CMBRMI|LibertineMathMI|EURM|EURB)/i,
    "ΓΔΘΛΞΠΣΥΦΨΩαβγδϵζηθικλμνξπρστυϕχψωεϑϖϱςφ↼↽⇀⇁  ▹◃0123456789.,</>⋆∂" +
      "ABCDEFGHIJKLMNOPQRSTUVWXYZ♭♮♯⌣⌢ℓabcdefghijklmnopqrstuvwxyzıȷ℘⃗⁀"
  ],
  // OMS: symbols.
  [
    /^(?:CMSY|CMBSY|LMMathSymbols|MTSY|r?txsy|r?txbsy|ntxsy|pxsy|npxsy|zplmr7y|HFBRSY|CMBRSY|LibertineMathSY)/i,
    "−·×∗÷⋄±∓⊕⊖⊗⊘⊙○∘∙≍≡⊆⊇≤≥≼≽∼≈⊂⊃≪≫≺≻←→↑↓↔↗↘≃⇐⇒⇑⇓⇔↖↙∝′∞∈∋△▽̸↦∀∃¬∅ℜℑ⊤⊥ℵ" +
      "ABCDEFGHIJKLMNOPQRSTUVWXYZ∪∩⊎∧∨⊢⊣⌊⌋⌈⌉{}⟨⟩|‖↕⇕\\≀√⨿∇∫⊔⊓⊑⊒§†‡¶♣♢♡♠"
  ],
  // OMX: big operators and brackets, whole and in pieces.
  [
    /^(?:CMEX|LMMathExtension|MTEX|r?txex|ntxex|pxex|npxex|zplmr7v|HFBREX|LibertineMathEX|yhcmex|MathDesign-.*-Extension)/i,
    "()[]⌊⌋⌈⌉{}⟨⟩|‖/\\()()[]⌊⌋⌈⌉{}⟨⟩/\\()[]⌊⌋⌈⌉{}⟨⟩/\\/\\⎛⎞⎡⎤⎣⎦⎢⎥⎧⎫⎩⎭⎨⎬⎪⏐⎝⎠⎜⎟⟨⟩⨆⨆∮∮⨀⨀⨁⨁⨂⨂" +
      "∑∏∫⋃⋂⨄⋀⋁∑∏∫⋃⋂⨄⋀⋁∐∐ˆˆˆ˜˜˜[]⌊⌋⌈⌉{}√√√√√⎮⌈‖↑↓    ⇑⇓"
  ],
  // MSA: the AMS's first symbols.
  [/^(?:MSAM|r?txsya|ntxsya)/i, "⊡⊞⊠□■·◇⧫↻↺⇌⇋⊟⊩⊪⊨↠↞⇇⇉⇈⇊↾⇂↿⇃↣↢⇆⇄↰↱⇝↬↫↭≗≿≳⪆⊸∴∵≑≜≾≲⪅⪕⪖⋞⋟≼≦⩽≶‵−≓≒≽≧⩾≷"]
]

/** Faces whose glyphs hang from their baseline, or stand around it: where one is shows only from its ink. */
const HANGING =
  /^(?:CMEX|LMMathExtension|MTEX|r?txex|ntxex|pxex|npxex|zplmr7v|HFBREX|LibertineMathEX|yhcmex|MathDesign-.*-Extension)/i

/** What the glyphs of a face of TeX's are. */
export interface TexGlyphs {
  /** Their characters by code. */
  readonly characters: ReadonlyArray<string>
  readonly hanging: boolean
}

const known = new Map<string, TexGlyphs | null>()
/** Names of faces that are remembered: a document may make up any number of them. */
const MOST_KNOWN = 5_000

/** The glyphs of a face; null where it is none of TeX's for mathematics, and has a name. */
export const texGlyphsOf = (face: string): TexGlyphs | null => {
  const before = known.get(face)
  if (before !== undefined) return before
  const found = ENCODINGS.find(([pattern]) => pattern.test(face))
  const glyphs =
    found === undefined ? null : { characters: Array.from(found[1]), hanging: HANGING.test(face) }
  if (known.size < MOST_KNOWN) known.set(face, glyphs)
  return glyphs
}
