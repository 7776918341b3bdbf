import type { GreyPicture, Turn } from "../../model/recognised-text.ts"

/** The picture turned clockwise. */
export const turned = (picture: GreyPicture, turn: Turn): GreyPicture => {
  const { bytes: levels, dpi, height, width } = picture
  if (turn === 0) return picture
  const found = new Uint8Array(levels.length)
  if (turn === 180) {
    for (let at = 0; at < levels.length; at++) found[levels.length - 1 - at] = levels[at] ?? 0
    return { width, height, dpi, bytes: found }
  }
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [to, down] = turn === 90 ? [height - 1 - y, x] : [y, width - 1 - x]
      found[down * height + to] = levels[y * width + x] ?? 0
    }
  return { width: height, height: width, dpi, bytes: found }
}

const histogramOf = (levels: Uint8Array): Uint32Array => {
  const counts = new Uint32Array(256)
  for (const level of levels) counts[level] = (counts[level] ?? 0) + 1
  return counts
}

/** The grey that half of the pixels are darker than. */
export const medianOf = ({ bytes: levels }: GreyPicture): number => {
  const counts = histogramOf(levels)
  let level = 0
  for (let left = levels.length / 2; level < 255; level++) {
    left -= counts[level] ?? 0
    if (left <= 0) break
  }
  return level
}

/** The level that parts dark from light best (Otsu). */
const thresholdOf = (levels: Uint8Array): number => {
  const counts = histogramOf(levels)
  let total = 0
  for (const [level, count] of counts.entries()) total += level * count
  let best = 0
  let threshold = 127
  let dark = 0
  let darkSum = 0
  for (const [level, count] of counts.entries()) {
    dark += count
    darkSum += level * count
    const light = levels.length - dark
    if (dark === 0 || light === 0) continue
    const between = dark * light * (darkSum / dark - (total - darkSum) / light) ** 2
    if (between > best) {
      best = between
      threshold = level
    }
  }
  return threshold
}

/** Neighbours in a row of which one is dark, as a share: print has a twentieth, halftones and noise have half. */
const MAX_CHANGES = 0.25
/** No line of print is lower or narrower, pixels. */
const MIN_SIDE = 12
/** Least and greatest share of dark pixels: less is dust, more is not a page. */
const MIN_DARK = 0.0001
const MAX_DARK = 0.85

/** Whether there can be print on it. Dust and noise would take minutes and give nothing. */
export const mayShowPrint = ({ bytes: levels, height, width }: GreyPicture): boolean => {
  if (Math.min(width, height) < MIN_SIDE) return false
  const threshold = thresholdOf(levels)
  let changes = 0
  let dark = 0
  for (let y = 0; y < height; y++) {
    let before = false
    for (let at = y * width; at < (y + 1) * width; at++) {
      const isDark = (levels[at] ?? 0) <= threshold
      if (isDark) dark += 1
      if (isDark !== before) changes += 1
      before = isDark
    }
  }
  const pixels = levels.length
  return changes < MAX_CHANGES * pixels && dark > MIN_DARK * pixels && dark < MAX_DARK * pixels
}
