// Colours of a treemap: a stable hue for each type, or two hues for growth and shrinking. Labels and signs say the same.

/** The hue of a type: the same on every page. @param {string} type */
export function hueOf(type) {
  let hash = 2166136261;
  for (let at = 0; at < type.length; at++) hash = Math.imul(hash ^ type.charCodeAt(at), 16777619);
  return ((hash >>> 0) * 137.508) % 360;
}

/** @param {string} type @param {boolean} isDark @param {boolean} [isOwn] the size of an object without what is below it */
export function typeColour(type, isDark, isOwn = false) {
  const lightness = isDark ? (isOwn ? 0.34 : 0.42) : isOwn ? 0.9 : 0.82;
  return `oklch(${lightness} ${isDark ? 0.075 : 0.085} ${hueOf(type).toFixed(0)})`;
}

/** What has no type or no known change. @param {boolean} isDark */
export function neutralColour(isDark) {
  return isDark ? 'oklch(0.33 0.01 250)' : 'oklch(0.9 0.008 250)';
}

/** Growth is orange, shrinking blue; the largest change of a map has the full colour.
 *  @param {number} change @param {number} largest @param {boolean} isDark */
export function growthColour(change, largest, isDark) {
  if (change === 0) return neutralColour(isDark);
  const part = Math.sqrt(Math.min(1, Math.abs(change) / largest));
  const lightness = isDark ? 0.34 + 0.12 * part : 0.9 - 0.17 * part;
  return `oklch(${lightness.toFixed(3)} ${(0.03 + (isDark ? 0.1 : 0.12) * part).toFixed(3)} ${change > 0 ? 48 : 250})`;
}

/** The texts on all of these. @param {boolean} isDark */
export function inkColour(isDark) {
  return isDark ? '#ffffff' : '#14161a';
}
