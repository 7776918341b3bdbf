/**
 * Codes below the letters in a face without a name: TeX's bitmap fonts, for which PDF readers have no characters.
 * Ligatures begin at 11 in Knuth's encoding and at 27 in Cork's, which has quotation marks and dashes between; other
 * differences are left out.
 */
const [LIGATURES, NOTHING] = ["ﬀﬁﬂﬃﬄ", "\0"]
const NAMELESS = `${NOTHING.repeat(11)}${LIGATURES}“”${NOTHING.repeat(3)}–—${NOTHING.repeat(4)}${LIGATURES}`
/**
 * Cork's letters at codes that Latin-1 has no sign at, and its last one, where Latin-1 has a letter that hardly any text
 * needs. Other letters of its upper half have codes of common signs, and are left out.
 */
const CORK_UPPER = "ĂĄĆČĎĚĘĞĹĽŁŃŇŊŐŔŘŚŠŞŤŢŰŮŸŹŽŻĲİđ§"
const [UPPER, SHARP_S] = [0x80, 0xff]

/** The characters of a face without a name. */
const namelessCharacters = (): ReadonlyArray<string> => {
  const characters = Array.from(NAMELESS)
  for (const [at, character] of Array.from(CORK_UPPER).entries()) characters[UPPER + at] = character
  characters[SHARP_S] = "ß"
  return characters
}

const CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
const DOUBLE_STRUCK = "𝔸𝔹ℂ𝔻𝔼𝔽𝔾ℍ𝕀𝕁𝕂𝕃𝕄ℕ𝕆ℙℚℝ𝕊𝕋𝕌𝕍𝕎𝕏𝕐ℤ"

/** Faces that use the glyph names of other characters: the characters that a PDF reader reports, and the real ones. */
const MISNAMED: ReadonlyArray<readonly [RegExp, string, string]> = [
  [/^(?:MSBM|r?txsyb|ntxsyb)/i, `${CAPITALS}k`, `${DOUBLE_STRUCK}𝕜`],
  [
    /^(?:BBM|BBMSS|BBOLD|DSROM|DSSS)\d/i,
    `${CAPITALS}abcdefghijklmnopqrstuvwxyz0123456789`,
    `${DOUBLE_STRUCK}𝕒𝕓𝕔𝕕𝕖𝕗𝕘𝕙𝕚𝕛𝕜𝕝𝕞𝕟𝕠𝕡𝕢𝕣𝕤𝕥𝕦𝕧𝕨𝕩𝕪𝕫𝟘𝟙𝟚𝟛𝟜𝟝𝟞𝟟𝟠𝟡`
  ],
  [
    /^EUF[BM]\d/i,
    `${CAPITALS}abcdefghijklmnopqrstuvwxyz`,
    "𝔄𝔅ℭ𝔇𝔈𝔉𝔊ℌℑ𝔍𝔎𝔏𝔐𝔑𝔒𝔓𝔔ℜ𝔖𝔗𝔘𝔙𝔚𝔛𝔜ℨ𝔞𝔟𝔠𝔡𝔢𝔣𝔤𝔥𝔦𝔧𝔨𝔩𝔪𝔫𝔬𝔭𝔮𝔯𝔰𝔱𝔲𝔳𝔴𝔵𝔶𝔷"
  ],
  [/^(?:EUS[BM]|RSFS)\d/i, CAPITALS, "𝒜ℬ𝒞𝒟ℰℱ𝒢ℋℐ𝒥𝒦ℒℳ𝒩𝒪𝒫𝒬ℛ𝒮𝒯𝒰𝒱𝒲𝒳𝒴𝒵"],
  // Its names, `a1` and so on, are those of Zapf's dingbats. French quotation marks are two of its arrow heads.
  [/^LASYB?\d/i, "✁✂✄☎✭✮✵✶✷✸❀❁❂", "◁⊴▷⊵‹›℧⋈□◇⇝⊏⊐"]
]

/**
 * TeX's mathematical faces use glyph names that no list of Unicode names has (`lscript`, `parenleftbigg`,
 * `summationdisplay`), so that a PDF reader reports the bare code. The codes are those of Knuth's and the AMS's
 * encodings, from 0 on; a space marks a glyph without a character.
 */
const ENCODINGS: ReadonlyArray<readonly [RegExp, string]> = [
  [/^$/, NAMELESS],
  // OML: letters.
  [
    /^(?:CMMI|CMMIB|LMMathItalic|MTMI|RMTMI|r?txmi|r?txbmi|ntxmi|pxmi|npxmi|zplmr7m|HFBRMI|CMBRMI|LibertineMathMI|EURM|EURB)/i,
    "ΓΔΘΛΞΠΣΥΦΨΩαβγδϵζηθικλμνξπρστυϕχψωεϑϖϱςφ↼↽⇀⇁↪↩▹◃0123456789.,</>⋆∂" +
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
  // MSA and MSB: the AMS's symbols.
  [
    /^(?:MSAM|r?txsya|ntxsya)/i,
    "⊡⊞⊠□■·◇⧫↻↺⇌⇋⊟⊩⊪⊨↠↞⇇⇉⇈⇊↾⇂↿⇃↣↢⇆⇄↰↱⇝↬↫↭≗≿≳⪆⊸∴∵≑≜≾≲⪅⪕⪖⋞⋟≼≦⩽≶‵−≓≒≽≧⩾≷" +
      "⊏⊐▷◁⊵⊴★≬▼▶◀→←△▲▽≖⋚⋛⪋⪌¥⇛⇚✓⊻⊼⩞∠∡∢∝⌣⌢⋐⋑⋓⋒⋏⋎⋋⋌⫅⫆≏≎⋘⋙⌜⌝®Ⓢ⋔∔∽⋍⌞⌟✠∁⊺⊚⊛⊝"
  ],
  [
    /^(?:MSBM|r?txsyb|ntxsyb)/i,
    "≨≩≰≱≮≯⊀⊁≨≩≰≱⪇⪈⋠⋡⋨⋩⋦⋧≰≱⪵⪶⪹⪺⪉⪊≁≇╱╲⊊⊋⊈⊉⫋⫌⫋⫌⊊⊋⊈⊉∦∤∤∦⊬⊮⊭⊯⋭⋬⋪⋫↚↛⇍⇏⇎↮⋇∅" +
      `∄${DOUBLE_STRUCK}ˆˆ˜˜ Ⅎ⅁    ℧ð≂ℶℷℸ⋖⋗⋉⋊∣∥∖∼≈≊⪸⪷↶↷ϝϰ𝕜ℏℏ϶`
  ],
  // LaTeX's and Waldi's symbols, as far as Unicode has them.
  [/^WASYB?\d/i, " ◁⊴▷⊵∴ ☎✓➜ ♪♩  ♫◀▶↯☊☋  ♈ ♀♂¤◷∝∢⌀●↻↺○☾☽♁☿    ☺☻☼☹℧⋈□◇☒◊✠⬡ ⬡∼⇝⊏⊐≲≳"]
]

/** Faces with glyphs that hang from their baseline, or are centred on it: only their ink shows their position. */
const HANGING =
  /^(?:CMEX|LMMathExtension|MTEX|r?txex|ntxex|pxex|npxex|zplmr7v|HFBREX|LibertineMathEX|yhcmex|MathDesign-.*-Extension)/i

/** What the glyphs of a face of TeX's are. */
export interface TexGlyphs {
  /** Their characters by code. */
  readonly characters: ReadonlyArray<string>
  /** Wrongly reported characters, with the real ones. */
  readonly misnamed: ReadonlyMap<number, number>
  readonly hanging: boolean
}

/** First code of the letters. An encoding that ends before it is partial, and no font repeats its codes. */
const LETTERS = 0x40
/** The codes from here on are again those from 0 on, but for two, so that no program meets one below the space. */
const AGAIN = 0xa1
const GAP = 10
const [SPACE, DELETE] = [0x20, 0x7f]

/** What is at a code of the encoding, and at those where its fonts have the codes below the space again. */
const twice = (encoding: string): ReadonlyArray<string> => {
  const characters = Array.from(encoding)
  if (characters.length < LETTERS) return characters
  const again = [
    ...characters.slice(0, GAP),
    " ",
    " ",
    ...characters.slice(GAP, SPACE + 1),
    ...characters.slice(DELETE)
  ]
  for (const [at, character] of again.entries()) characters[AGAIN + at] = character
  return characters
}

const misnamedOf = (face: string): ReadonlyMap<number, number> => {
  const [, taken = "", meant = ""] = MISNAMED.find(([pattern]) => pattern.test(face)) ?? []
  const are = Array.from(meant, (character) => character.codePointAt(0) ?? 0)
  return new Map(Array.from(taken, (character, at) => [character.codePointAt(0) ?? 0, are[at] ?? 0]))
}

const known = new Map<string, TexGlyphs | null>()
/** Names of faces that are remembered: a document may make up any number of them. */
const MOST_KNOWN = 5_000

/** The glyphs of a face; null for a named face that is not one of TeX's mathematical ones. */
export const texGlyphsOf = (face: string): TexGlyphs | null => {
  const before = known.get(face)
  if (before !== undefined) return before
  const [, encoding] = ENCODINGS.find(([pattern]) => pattern.test(face)) ?? []
  const misnamed = misnamedOf(face)
  const glyphs =
    encoding === undefined && misnamed.size === 0
      ? null
      : {
          characters: face === "" ? namelessCharacters() : twice(encoding ?? ""),
          misnamed,
          hanging: HANGING.test(face)
        }
  if (known.size < MOST_KNOWN) known.set(face, glyphs)
  return glyphs
}
