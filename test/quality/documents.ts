/** Documents with a known truth: HTML of a seeded generator, printed by Chromium. */

/** A document to print. */
export interface Sample {
  readonly name: string
  readonly kind: "paper" | "manual"
  readonly html: string
  readonly header: boolean
}

/** Small deterministic generator (mulberry32). */
const randomOf = (seed: number) => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const below = (n: number) => Math.floor(next() * n)
  return { next, below, pick: <A>(all: ReadonlyArray<A>): A => all[below(all.length)] as A }
}

const WORDS =
  "the of and a to in is it that for on with as are this be by from at or an which method data system value result model time page between under these section where each other more than node order list field given state first second large small number change measure output input rate error process memory network signal function several however therefore because although without during within available possible different important general common local global linear random stable static dynamic parallel distributed optimal average maximum minimum table figure document reader structure heading paragraph column border margin printer language sentence letter analysis approach evaluation experiment baseline training corpus annotation evidence hypothesis observation variable constant parameter threshold interval sample cluster schedule resource request response protocol message channel buffer window packet latency throughput".split(
    " "
  )

const generator = (seed: number) => {
  const random = randomOf(seed)
  const word = () => random.pick(WORDS)
  const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
  const words = (from: number, to: number) =>
    Array.from({ length: from + random.below(to - from + 1) }, word).join(" ")
  const styled = (text: string) => {
    const way = random.below(40)
    return way === 0
      ? `<em>${text}</em>`
      : way === 1
        ? `<strong>${text}</strong>`
        : way === 2
          ? `<code>${text.replaceAll(" ", "_")}</code>`
          : text
  }
  const sentence = () =>
    `${capital(words(2, 6))} ${styled(words(1, 2))} ${words(2, 9)}${random.below(3) === 0 ? `, ${words(2, 7)}` : ""}.`
  const paragraph = () => `<p>${Array.from({ length: 2 + random.below(6) }, sentence).join(" ")}</p>`
  const title = (from = 1, to = 5) => capital(words(from, to))
  const number = () => (random.below(2) === 0 ? String(random.below(1000)) : (random.next() * 100).toFixed(2))
  const list = (depth = 0): string => {
    const name = random.below(2) === 0 ? "ul" : "ol"
    const item = () =>
      `<li>${random.below(2) === 0 ? capital(words(2, 6)) : sentence()}${depth === 0 && random.below(6) === 0 ? list(1) : ""}</li>`
    return `<${name}>${Array.from({ length: 2 + random.below(4) }, item).join("")}</${name}>`
  }
  let tables = 0
  const table = (looks: string, most = 5) => {
    tables += 1
    const columns = 2 + random.below(most - 1)
    const head = Array.from({ length: columns }, () => `<th scope="col">${title(1, 2)}</th>`).join("")
    const rows = Array.from(
      { length: 3 + random.below(6) },
      () =>
        `<tr>${random.below(2) === 0 ? "" : ""}<td>${title(1, 3)}</td>${Array.from({ length: columns - 1 }, () => `<td>${random.below(4) === 0 ? words(1, 3) : number()}</td>`).join("")}</tr>`
    ).join("")
    return `<table class="${looks}"><caption>Table ${tables}: ${title(2, 6)}</caption><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table>`
  }
  const code = () =>
    `<pre><code>${Array.from({ length: 2 + random.below(6) }, () => `${" ".repeat(2 * random.below(4))}${word()}_${word()}(${word()}, ${random.below(90)})`).join("\n")}</code></pre>`
  return { random, word, words, sentence, paragraph, title, list, table, code }
}

const STYLE = `
.grid td,.grid th{border:1px solid #333;padding:3px 6px}.grid{border-collapse:collapse}
.book{border-collapse:collapse;border-top:1.5px solid #000;border-bottom:1.5px solid #000}.book thead th{border-bottom:1px solid #000}.book td,.book th{padding:2px 14px;text-align:left}
.bare td,.bare th{padding:2px 16px;text-align:left}
table{margin:10px 0;break-inside:avoid}caption{font-size:.9em}
pre{font-family:monospace;font-size:.9em}`

const manual = (seed: number): Sample => {
  const g = generator(seed)
  const looks = g.random.pick(["grid", "book", "bare"])
  const numbered = g.random.below(2) === 0
  const body: Array<string> = [`<h1>${g.title(2, 5)}</h1>`, g.paragraph()]
  for (let chapter = 1; chapter <= 4 + g.random.below(4); chapter++) {
    body.push(`<h2>${numbered ? `${chapter} ` : ""}${g.title()}</h2>`)
    for (let section = 0; section <= g.random.below(4); section++) {
      if (section > 0) body.push(`<h3>${numbered ? `${chapter}.${section} ` : ""}${g.title()}</h3>`)
      for (let block = 0; block <= 1 + g.random.below(4); block++) {
        const kind = g.random.below(12)
        if (kind < 7) body.push(g.paragraph())
        else if (kind < 9) body.push(g.list())
        else if (kind < 10) body.push(g.code())
        else if (kind < 11) body.push(g.table(looks))
        else body.push(`<h4>${g.title()}</h4>`, g.paragraph())
      }
    }
  }
  const size = g.random.pick([10, 11, 12])
  const justify = g.random.below(2) === 0 ? "justify" : "start"
  return {
    name: `manual-${seed}`,
    kind: "manual",
    header: g.random.below(3) > 0,
    html: `<!doctype html><html lang="en"><head><title>Manual ${seed}</title><style>${STYLE}body{font:${size}pt/1.4 ${g.random.pick(["serif", "sans-serif"])};text-align:${justify}}</style></head><body>${body.join("\n")}</body></html>`
  }
}

const paper = (seed: number): Sample => {
  const g = generator(seed)
  const looks = g.random.pick(["grid", "book", "bare"])
  const body: Array<string> = [`<h2>Abstract</h2>`, g.paragraph()]
  for (let section = 1; section <= 5 + g.random.below(3); section++) {
    body.push(`<h2>${section} ${g.title()}</h2>`)
    for (let part = 0; part <= g.random.below(3); part++) {
      if (part > 0) body.push(`<h3>${section}.${part} ${g.title()}</h3>`)
      for (let block = 0; block <= 1 + g.random.below(3); block++) {
        const kind = g.random.below(10)
        if (kind < 7) body.push(g.paragraph())
        else if (kind < 8) body.push(g.list())
        else if (kind < 9) body.push(g.table(looks, 3))
        else
          body.push(
            `<p>(${g.random.below(20)}) <em>${g.word()}</em> = ${g.random.below(90)} + <em>${g.word()}</em></p>`
          )
      }
    }
  }
  body.push(
    `<h2>References</h2>`,
    ...Array.from(
      { length: 8 + g.random.below(8) },
      (_, at) =>
        `<p class="ref">[${at + 1}] ${g.title(2, 4)}. ${g.sentence()} ${1990 + g.random.below(30)}.</p>`
    )
  )
  const indent =
    g.random.below(2) === 0
      ? "p{margin:0;text-indent:1.2em}h2+p,h3+p{text-indent:0}.ref{text-indent:-1.4em;padding-left:1.4em}"
      : "p{margin:0 0 .6em}"
  return {
    name: `paper-${seed}`,
    kind: "paper",
    header: g.random.below(2) === 0,
    html: `<!doctype html><html lang="en"><head><title>Paper ${seed}</title><style>${STYLE}body{font:9.5pt/1.25 serif;text-align:justify}h1{text-align:center;font-size:17pt}.by{text-align:center;text-indent:0}.two{column-count:2;column-gap:${g.random.pick([14, 20, 28])}px}h2{font-size:11.5pt}.two table{font-size:7.5pt;width:100%}.two .bare td,.two .bare th{padding:2px 9px}h3{font-size:10pt}${indent}</style></head><body><h1>${g.title(4, 9)}</h1><p class="by">${g.title(2, 2)}, ${g.title(2, 2)}</p><div class="two">${body.join("\n")}</div></body></html>`
  }
}

/** The samples, the same for the same seeds. */
export const samples = (each: number, from = 1): ReadonlyArray<Sample> =>
  Array.from({ length: each }, (_, at) => [manual(from + at), paper(from + at)]).flat()
