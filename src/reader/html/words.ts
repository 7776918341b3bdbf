/** The converter's own words in a document; `{n}` is a page's label or a number. */
export interface InterfaceWords {
  readonly lang: string
  readonly skip: string
  readonly contents: string
  readonly page: string
  readonly pages: string
  /** Names the switch that shows and hides where pages begin. */
  readonly pageMarks: string
  readonly backToText: string
  readonly undescribed: string
  /**
   * Captions of a scanned page's picture, by how well its text was read: well, poorly, not at all; and its alternative
   * text.
   */
  readonly scan: string
  readonly scanPoor: string
  readonly scanUnread: string
  readonly scanAlt: string
  /** Heads the words of a picture that are too many for its description. */
  readonly inPicture: string
  readonly field: string
  readonly table: string
  readonly formula: string
  readonly untitled: string
}

const EN: InterfaceWords = {
  lang: "en",
  skip: "Skip to main content",
  contents: "Contents",
  page: "Page {n}",
  pages: "{n} pages",
  pageMarks: "Page numbers",
  backToText: "Back to the text",
  undescribed: "Picture without a description",
  scan: "Picture of this page",
  scanPoor: "This page could not be read well: words may be wrong or missing. Its picture:",
  scanUnread: "The text of this page could not be read. Its picture:",
  scanAlt: "Picture of page {n}, whose text stands beside it",
  inPicture: "Words in the picture",
  field: "Form field",
  table: "Table",
  formula: "Formula",
  untitled: "Untitled document"
}

const ALL: ReadonlyMap<string, InterfaceWords> = new Map(
  [
    EN,
    {
      lang: "de",
      skip: "Zum Hauptinhalt springen",
      contents: "Inhalt",
      page: "Seite {n}",
      pages: "{n} Seiten",
      pageMarks: "Seitenzahlen",
      backToText: "Zurück zum Text",
      undescribed: "Bild ohne Beschreibung",
      scan: "Bild dieser Seite",
      scanPoor: "Diese Seite war schlecht zu lesen: Wörter können falsch sein oder fehlen. Ihr Bild:",
      scanUnread: "Der Text dieser Seite war nicht zu lesen. Ihr Bild:",
      scanAlt: "Bild der Seite {n}; ihr Text steht daneben",
      inPicture: "Text im Bild",
      field: "Formularfeld",
      table: "Tabelle",
      formula: "Formel",
      untitled: "Dokument ohne Titel"
    },
    {
      lang: "fr",
      skip: "Aller au contenu principal",
      contents: "Sommaire",
      page: "Page {n}",
      pages: "{n} pages",
      pageMarks: "Numéros de page",
      backToText: "Retour au texte",
      undescribed: "Image sans description",
      scan: "Image de cette page",
      scanPoor: "Cette page était difficile à lire : des mots peuvent être faux ou manquer. Son image :",
      scanUnread: "Le texte de cette page n’a pas pu être lu. Son image :",
      scanAlt: "Image de la page {n}, dont le texte se trouve à côté",
      inPicture: "Texte de l’image",
      field: "Champ de formulaire",
      table: "Tableau",
      formula: "Formule",
      untitled: "Document sans titre"
    },
    {
      lang: "es",
      skip: "Saltar al contenido principal",
      contents: "Índice",
      page: "Página {n}",
      pages: "{n} páginas",
      pageMarks: "Números de página",
      backToText: "Volver al texto",
      undescribed: "Imagen sin descripción",
      scan: "Imagen de esta página",
      scanPoor:
        "Esta página no se pudo leer bien: puede haber palabras equivocadas o faltar algunas. Su imagen:",
      scanUnread: "No se pudo leer el texto de esta página. Su imagen:",
      scanAlt: "Imagen de la página {n}; su texto está al lado",
      inPicture: "Texto de la imagen",
      field: "Campo de formulario",
      table: "Tabla",
      formula: "Fórmula",
      untitled: "Documento sin título"
    },
    {
      lang: "it",
      skip: "Vai al contenuto principale",
      contents: "Indice",
      page: "Pagina {n}",
      pages: "{n} pagine",
      pageMarks: "Numeri di pagina",
      backToText: "Torna al testo",
      undescribed: "Immagine senza descrizione",
      scan: "Immagine di questa pagina",
      scanPoor:
        "Questa pagina era difficile da leggere: alcune parole possono essere errate o mancare. La sua immagine:",
      scanUnread: "Il testo di questa pagina non è leggibile. La sua immagine:",
      scanAlt: "Immagine della pagina {n}, il cui testo è accanto",
      inPicture: "Testo dell’immagine",
      field: "Campo del modulo",
      table: "Tabella",
      formula: "Formula",
      untitled: "Documento senza titolo"
    },
    {
      lang: "pt",
      skip: "Ir para o conteúdo principal",
      contents: "Índice",
      page: "Página {n}",
      pages: "{n} páginas",
      pageMarks: "Números de página",
      backToText: "Voltar ao texto",
      undescribed: "Imagem sem descrição",
      scan: "Imagem desta página",
      scanPoor: "Esta página não pôde ser bem lida: pode haver palavras erradas ou em falta. A sua imagem:",
      scanUnread: "O texto desta página não pôde ser lido. A sua imagem:",
      scanAlt: "Imagem da página {n}, cujo texto está ao lado",
      inPicture: "Texto da imagem",
      field: "Campo de formulário",
      table: "Tabela",
      formula: "Fórmula",
      untitled: "Documento sem título"
    },
    {
      lang: "nl",
      skip: "Naar de hoofdinhoud",
      contents: "Inhoud",
      page: "Pagina {n}",
      pages: "{n} pagina's",
      pageMarks: "Paginanummers",
      backToText: "Terug naar de tekst",
      undescribed: "Afbeelding zonder beschrijving",
      scan: "Afbeelding van deze pagina",
      scanPoor: "Deze pagina was slecht te lezen: woorden kunnen fout zijn of ontbreken. De afbeelding:",
      scanUnread: "De tekst van deze pagina kon niet worden gelezen. De afbeelding:",
      scanAlt: "Afbeelding van pagina {n}; de tekst staat ernaast",
      inPicture: "Tekst in de afbeelding",
      field: "Formulierveld",
      table: "Tabel",
      formula: "Formule",
      untitled: "Document zonder titel"
    }
  ].map((words) => [words.lang, words])
)

/** The words in the document's language, else in English. */
export const wordsFor = (lang: string): InterfaceWords =>
  ALL.get(lang.split("-")[0]?.toLowerCase() ?? "") ?? EN

/** Fills the place of `{n}`. */
export const filled = (words: string, n: string | number): string => words.replace("{n}", () => String(n))
