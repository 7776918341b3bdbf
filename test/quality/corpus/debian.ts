/** Debian's packages, extracted beside each other: what is fetched and where it is. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"

/** The folder of an extracted package, fetched where it is not there yet. */
export const packageFolder = (root: string, name: string): string => {
  const folder = join(root, "packages", name)
  if (existsSync(folder)) return folder
  const downloads = join(root, "downloads")
  mkdirSync(downloads, { recursive: true })
  execFileSync("apt-get", ["download", name], { cwd: downloads, stdio: "ignore" })
  mkdirSync(folder, { recursive: true })
  execFileSync("dpkg", ["-x", join(downloads, archiveOf(downloads, name)), folder])
  // Debian packs long sources and pages; links may lead into other packages.
  execFileSync("find", [
    folder,
    "-type",
    "f",
    "-regex",
    ".*\\.\\(tex\\|pdf\\|html\\|bib\\|bbl\\|docx\\)\\.gz",
    "-exec",
    "gunzip",
    "-f",
    "{}",
    "+"
  ])
  return folder
}

const archiveOf = (downloads: string, name: string): string =>
  readdirSync(downloads).find((file) => file.startsWith(`${name}_`)) ?? `${name}.deb`

/** Name and version, as the manifest writes them. */
export const versionOf = (root: string, name: string): string => {
  const version = decodeURIComponent(archiveOf(join(root, "downloads"), name).split("_")[1] ?? "")
  return `${name}=${version}`
}

/** Documents of word processors, `.odt` and `.docx`: manuals, type specimens, letters, teaching material, in six languages. */
export const OFFICE: ReadonlyArray<string> = [
  "abinit-doc",
  "coco-doc",
  "davical-doc",
  "fonts-manchufont",
  "fonts-sil-akatab",
  "fonts-sil-andika-compact",
  "fonts-sil-annapurna",
  "fonts-sil-awami-nastaliq",
  "fonts-sil-padauk",
  "fonts-sil-tagmukay",
  "fonts-sil-taiheritagepro",
  "gutenprint-doc",
  "jverein",
  "lib3mf-doc",
  "libdigidoc-doc",
  "libreoffice-canzeley-client",
  "libzemberek-java-doc",
  "lios",
  "live-manual-odf",
  "openni-doc",
  "pique-doc",
  "psychtoolbox-3-common",
  "python-odf-doc",
  "python3-relatorio",
  "w1retap-doc",
  "whitedune-docs",
  "writer2latex",
  "writer2latex-manual"
]

/** Tagged PDFs: manuals, reports and notes, by Word, LibreOffice and Acrobat; no slides, posters or spreadsheets. */
export const TAGGED: ReadonlyArray<string> = [
  "discosnp",
  "fonts-sil-akatab",
  "imx-code-signing-tool",
  "juce-modules-source-data",
  "lib3mf-doc",
  "libdds-dev",
  "libdigidoc-doc",
  "libjide-oss-java-doc",
  "liblimesuite-doc",
  "libsimtkmolmodel-dev",
  "libtlsh-dev",
  "lightyears",
  "openhpi-plugin-ov-rest",
  "openlp",
  "openni-doc",
  "previsat",
  "pymca-data",
  "simh",
  "srf-doc",
  "teckit"
]

/** LaTeX sources with a PDF beside them: classes of publishers and packages of science, no slides, letters or exams. */
export const PAPERS: ReadonlyArray<string> = ["texlive-publishers-doc", "texlive-science-doc"]

/** Manuals: package, PDF, first page of HTML; whole, or some of their chapters. */
export const MANUALS: ReadonlyArray<readonly [string, string, string, "whole" | "chapters"]> = [
  ...[
    "License",
    "README",
    "ReleaseNotes",
    "Versions",
    "Xserver/XACE-Spec",
    "Xserver/analysis",
    "Xserver/secint",
    "Xserver/appgroup",
    "ctext/ctext",
    "fonts/fonts",
    "graphics/dps",
    "icccm/icccm",
    "input/XKB-Enhancing",
    "input/XKB-Config",
    "xlfd/xlfd"
  ].map((one) => ["xorg-docs", `xorg-docs/${one}.pdf`, `xorg-docs/${one}.html`, "whole"] as const),
  ["bzip2-doc", "bzip2/manual.pdf", "bzip2/manual.html", "chapters"],
  ["fontconfig", "fontconfig/fontconfig-user.pdf", "fontconfig/fontconfig-user.html", "whole"],
  [
    "shared-mime-info",
    "shared-mime-info/shared-mime-info-spec.pdf",
    "shared-mime-info/shared-mime-info-spec.html/index.html",
    "whole"
  ],
  ["nettle-dev", "nettle-dev/nettle.pdf", "nettle-dev/nettle.html", "chapters"],
  ["avrdude-doc", "avrdude/avrdude.pdf", "avrdude/avrdude-html/avrdude_1.html", "chapters"],
  ["libmpfr-doc", "libmpfr-doc/mpfr.pdf", "libmpfr-doc/mpfr.html/index.html", "chapters"],
  ["debian-faq", "debian/FAQ/debian-faq.en.pdf", "debian/FAQ/index.en.html", "chapters"],
  ["debian-policy", "debian-policy/policy.pdf", "debian-policy/policy.html/index.html", "chapters"],
  [
    "developers-reference",
    "developers-reference/developers-reference.pdf",
    "developers-reference/index.html",
    "chapters"
  ],
  ["maint-guide", "maint-guide/maint-guide.en.pdf", "maint-guide/html/index.en.html", "chapters"],
  [
    "mit-scheme-doc",
    "mit-scheme-doc/pdf/mit-scheme-user.pdf",
    "mit-scheme-doc/html/mit-scheme-user/index.html",
    "chapters"
  ],
  [
    "mit-scheme-doc",
    "mit-scheme-doc/pdf/mit-scheme-sos.pdf",
    "mit-scheme-doc/html/mit-scheme-sos/index.html",
    "chapters"
  ],
  [
    "mit-scheme-doc",
    "mit-scheme-doc/pdf/mit-scheme-ref.pdf",
    "mit-scheme-doc/html/mit-scheme-ref/index.html",
    "chapters"
  ],
  ["octave-doc", "octave/octave.pdf", "octave/octave.html/index.html", "chapters"],
  ["gnuplot-doc", "gnuplot/gnuplot.pdf", "gnuplot/htmldocs/gnuplot.html", "chapters"],
  ["gnutls-doc", "gnutls-doc/gnutls.pdf", "gnutls-doc/html/gnutls.html", "chapters"],
  ["valgrind", "valgrind/valgrind_manual.pdf", "valgrind/html/index.html", "chapters"],
  ["autoconf-doc", "autoconf/autoconf.pdf", "autoconf/autoconf.html", "chapters"],
  ["bash-doc", "bash/bashref.pdf", "bash/bashref.html", "chapters"],
  ["freefem-doc", "freefem-doc/freefem.pdf", "freefem-doc/freefem/index.html", "chapters"],
  ["latex2html", "latex2html/manual.pdf", "latex2html/html/manual.html", "chapters"],
  ["gnucash-docs", "gnucash-docs/gnucash-help-en.pdf", "gnucash-docs/gnucash-help-en/index.html", "chapters"],
  ["asymptote-doc", "asymptote/asymptote.pdf", "asymptote/html/index.html", "chapters"]
]
