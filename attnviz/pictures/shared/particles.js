// @ts-check
// Korean particles chosen from the value before them: "{token}이(가)" with "cat" is "cat이". As attnviz.i18n.particles
// does; a value whose sound is unknown leaves both forms as they are.

/** @typedef {"vowel" | "consonant" | "rieul"} Ending */

const CLOSING = "\"'”’」』»)\\]*`\\\\.";
const PARTICLE = "(은\\(는\\)|이\\(가\\)|을\\(를\\)|과\\(와\\)|\\(으\\)로|\\(이\\)(?=[고나라며므]))";
const AFTER_VALUE = new RegExp(`\\{(\\w+)\\}([${CLOSING}]*)${PARTICLE}`, "g");
const AT_START = new RegExp(`^([${CLOSING}]*)${PARTICLE}`);
const CLOSED = new RegExp(`[${CLOSING}]+$`);
/** @type {Record<string, [string, string]>} the form after a consonant, and after a vowel */
const FORMS = {
  "은(는)": ["은", "는"],
  "이(가)": ["이", "가"],
  "을(를)": ["을", "를"],
  "과(와)": ["과", "와"],
  "(으)로": ["으로", "로"],
  "(이)": ["이", ""],
};
/** @type {Ending[]} 영 일 이 삼 사 오 육 칠 팔 구 */
const DIGITS = [
  "consonant",
  "rieul",
  "vowel",
  "consonant",
  "vowel",
  "vowel",
  "consonant",
  "rieul",
  "rieul",
  "vowel",
];
const FIRST_SYLLABLE = 0xac00;
const LAST_SYLLABLE = 0xd7a3;
const FINALS = 28;
const RIEUL = 8;

/**
 * The template with each particle in the form that fits the value of its placeholder.
 * @param {string} template
 * @param {Record<string, string | number>} values
 */
export function chooseParticles(template, values) {
  return template.replace(AFTER_VALUE, (whole, name, closing, particle) =>
    name in values ? `{${name}}${closing}${fitting(String(values[name]), particle)}` : whole,
  );
}

/** A text that follows a value, with the particle at its beginning in the form that fits. */
export function afterValue(/** @type {string} */ value, /** @type {string} */ text) {
  return text.replace(AT_START, (_, closing, particle) => closing + fitting(value, particle));
}

function fitting(/** @type {string} */ value, /** @type {string} */ particle) {
  const last = ending(value);
  if (last === null) return particle;
  const [closed, open] = FORMS[particle];
  return last === "vowel" || (last === "rieul" && particle === "(으)로") ? open : closed;
}

/** @returns {Ending | null} */
function ending(/** @type {string} */ value) {
  const plain = value.replace(CLOSED, "");
  const sign = plain.slice(-1);
  if (sign >= "0" && sign <= "9") return DIGITS[Number(sign)];
  const code = sign.charCodeAt(0);
  if (code >= FIRST_SYLLABLE && code <= LAST_SYLLABLE) {
    const final = (code - FIRST_SYLLABLE) % FINALS;
    return final === 0 ? "vowel" : final === RIEUL ? "rieul" : "consonant";
  }
  if (sign === "%" || sign === "°") return "vowel";
  const word = plain.match(/[A-Za-z]+$/)?.[0];
  return word === undefined ? null : endingOfWord(word);
}

/** @returns {Ending} */
function endingOfWord(/** @type {string} */ word) {
  if (word === word.toUpperCase()) {
    const last = word.slice(-1);
    return "LR".includes(last) ? "rieul" : "MN".includes(last) ? "consonant" : "vowel";
  }
  const lower = word.toLowerCase();
  if (/(?:l|le)$/.test(lower)) return "rieul";
  return /(?:[mn]|ng|ck|(?:^|[^aeiou])[aeiou][ckpt])$/.test(lower) ? "consonant" : "vowel";
}
