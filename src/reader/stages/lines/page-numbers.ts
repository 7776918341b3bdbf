/** Words for "page" next to its number, in the languages of the known captions; the short forms end in a dot. */
const PAGE =
  "page|seite|p[áa]gina|pagină|sida|side|sivu|strona|stran[aá]|stránka|oldal|sayfa|trang|страница|сторінка|стр|pág|pag|str|p|s"
/** Signs and words between the page's number and the number of all pages. */
const OF = String.raw`\/|of|von|de|di|da|do|sur|van|av|af|z|ze|из|з|共`

/** A page's number and nothing else, of how many pages it may be: `3`, `– 3 –`, `Página 3 de 10`, `第 3 页 共 10 页`. */
const NUMBER_ALONE = new RegExp(
  String.raw`^[-–—[(\s]*(?:(?:${PAGE})\.?\s+|第\s*)?(?:\p{Nd}+|[ivxlc]+)\s*[页頁]?(?:\s*(?:${OF})\s*\p{Nd}+\s*[页頁]?)?[-–—\])\s.]*$`,
  "iu"
)
const SAYS_PAGE = new RegExp(
  String.raw`^[-–—[(\s]*(?:(?:${PAGE})\.?\s*|第\s*)\d|\d\s*[页頁]?\s*(?:${OF})\s*\d`,
  "iu"
)

/** Whether a text is the number of some page and nothing else. */
export const isNumberAlone = (text: string): boolean => NUMBER_ALONE.test(text)

/** Whether a text is a page's number and nothing else: `3`, `– 3 –`, `Page 3 of 4`. */
export const isPageNumber = (text: string, number: number): boolean =>
  isNumberAlone(text) && Number(/\d+/.exec(text)?.[0]) === number

/** Whether a text says by itself that it is the page's number: `Page 3`, `3/4`. */
export const saysPage = (text: string, number: number): boolean =>
  SAYS_PAGE.test(text) && isPageNumber(text, number)
