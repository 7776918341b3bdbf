import { element, serialize } from "../html/tree.ts"
import type { InterfaceWords } from "../html/words.ts"

/**
 * Pages keep their proportions and grow and shrink with the window; text is set in parts of the page's width. Over a picture the
 * letters are there, and not seen twice; with forced colours, or without a picture, they are what is seen.
 */
const STYLE = `
:root{color-scheme:light}
*{box-sizing:border-box}
body{margin:0;padding:1rem;background:#e7e9ec;color:#1b1f24;font:100%/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
header{max-width:60rem;margin:0 auto 1rem}
h1{font-size:1.25rem;margin:0;overflow-wrap:anywhere}
.skip{position:absolute;left:-100vw;padding:.5rem 1rem;background:#fff;color:#0550ae}
.skip:focus{left:1rem;top:.5rem;z-index:1}
.page{position:relative;container-type:inline-size;width:min(100%,calc(var(--w,612)*4px/3));aspect-ratio:var(--w,612)/var(--h,792);margin:0 auto 1rem;overflow:hidden;background:#fff;box-shadow:0 1px 4px #0006;scroll-margin-top:1rem}
.page img{position:absolute;inset:0;width:100%;height:100%}
.page p{margin:0}
.page span{position:absolute;white-space:pre;line-height:1;color:transparent;font-family:Arial,Helvetica,"Liberation Sans",sans-serif;transform-origin:0 .8465em}
.page a{color:transparent}
.page ::selection{background:#0550ae55;color:transparent}
.bare span{color:#1b1f24}.bare a{color:#0550ae}.bare ::selection{color:#1b1f24}
.note{padding:1rem}
.told{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
a:focus-visible{outline:3px solid #0550ae;outline-offset:2px}
@media (forced-colors:active){.page{overflow:visible}.page img{display:none}.page span{color:CanvasText}.page a{color:LinkText}}
@media print{@page{margin:0}body{padding:0;background:none}header,.skip{display:none}.page{width:100%;margin:0;box-shadow:none;break-after:page}.page:last-child{break-after:auto}}
`.trim()

/** The document up to where its pages begin. */
export const flyerStart = (title: string, lang: string, words: InterfaceWords): string => {
  const own = words.lang === lang.split("-")[0] ? undefined : words.lang
  const head = serialize([
    element("head", {}, [
      element("meta", { charset: "utf-8" }),
      element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
      element("title", {}, [title])
    ])
  ]).replace("</head>", () => `<style>${STYLE}</style></head>`)
  const before = serialize([
    element("a", { class: "skip", href: "#main", lang: own }, [words.skip]),
    element("header", {}, [element("h1", {}, [title])])
  ])
  const open = serialize([element("html", { lang })]).replace("</html>", "")
  return `<!doctype html>\n${open}${head}<body>${before}<main id="main" tabindex="-1">`
}

export const FLYER_END = "</main></body></html>\n"
