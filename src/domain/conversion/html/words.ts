/** The converter's own words in a document; `{n}` is a page's label or a number. */
export interface InterfaceWords {
  readonly lang: string
  readonly skip: string
  readonly contents: string
  readonly page: string
  readonly pages: string
  readonly backToText: string
  readonly undescribed: string
  readonly field: string
  readonly table: string
  readonly untitled: string
}

const EN: InterfaceWords = {
  lang: "en",
  skip: "Skip to main content",
  contents: "Contents",
  page: "Page {n}",
  pages: "{n} pages",
  backToText: "Back to the text",
  undescribed: "Picture without a description",
  field: "Form field",
  table: "Table",
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
      backToText: "Zurück zum Text",
      undescribed: "Bild ohne Beschreibung",
      field: "Formularfeld",
      table: "Tabelle",
      untitled: "Dokument ohne Titel"
    },
    {
      lang: "fr",
      skip: "Aller au contenu principal",
      contents: "Sommaire",
      page: "Page {n}",
      pages: "{n} pages",
      backToText: "Retour au texte",
      undescribed: "Image sans description",
      field: "Champ de formulaire",
      table: "Tableau",
      untitled: "Document sans titre"
    },
    {
      lang: "es",
      skip: "Saltar al contenido principal",
      contents: "Índice",
      page: "Página {n}",
      pages: "{n} páginas",
      backToText: "Volver al texto",
      undescribed: "Imagen sin descripción",
      field: "Campo de formulario",
      table: "Tabla",
      untitled: "Documento sin título"
    },
    {
      lang: "it",
      skip: "Vai al contenuto principale",
      contents: "Indice",
      page: "Pagina {n}",
      pages: "{n} pagine",
      backToText: "Torna al testo",
      undescribed: "Immagine senza descrizione",
      field: "Campo del modulo",
      table: "Tabella",
      untitled: "Documento senza titolo"
    },
    {
      lang: "pt",
      skip: "Ir para o conteúdo principal",
      contents: "Índice",
      page: "Página {n}",
      pages: "{n} páginas",
      backToText: "Voltar ao texto",
      undescribed: "Imagem sem descrição",
      field: "Campo de formulário",
      table: "Tabela",
      untitled: "Documento sem título"
    },
    {
      lang: "nl",
      skip: "Naar de hoofdinhoud",
      contents: "Inhoud",
      page: "Pagina {n}",
      pages: "{n} pagina's",
      backToText: "Terug naar de tekst",
      undescribed: "Afbeelding zonder beschrijving",
      field: "Formulierveld",
      table: "Tabel",
      untitled: "Document zonder titel"
    }
  ].map((words) => [words.lang, words])
)

/** The words in the document's language, else in English. */
export const wordsFor = (lang: string): InterfaceWords =>
  ALL.get(lang.split("-")[0]?.toLowerCase() ?? "") ?? EN

/** Fills the place of `{n}`. */
export const filled = (words: string, n: string | number): string => words.replace("{n}", () => String(n))
