import { element, serialize } from "./html/tree.ts"

/** Why a picture has no text version. */
export type NoText = "not-asked" | "too-large" | "no-answer"

const NOTES: Readonly<Record<NoText, string>> = {
  "not-asked": "This file is a picture. No text version of it was made: high fidelity was not asked for.",
  "too-large":
    "This file is a picture. It is too large for the model that reads pictures, so no text version was made.",
  "no-answer":
    "This file is a picture. The model that reads pictures gave no answer, so no text version was made."
}

/** What is said of a picture that nobody looked at: what it is, never what might be on it. */
const figure = (source: string, alt: string, caption: string) =>
  element("figure", {}, [
    element("img", { src: source, alt, lang: "en" }),
    element("figcaption", { lang: "en" }, [caption])
  ])

/** A picture that stands for itself. */
export const pictureOnly = (name: string, source: string, why: NoText): string =>
  serialize([figure(source, `Picture of the uploaded file ${name}; no text version was made`, NOTES[why])])

/** What a model read from a picture, clean, and the picture itself. */
export const readPicture = (name: string, source: string, html: string): string =>
  html +
  serialize([
    figure(
      source,
      `Picture of the uploaded file ${name}; its text version stands before it`,
      "The picture that was uploaded. The text before it was read from it by a model."
    )
  ])
