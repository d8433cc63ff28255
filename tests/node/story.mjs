// What is said to each question, whichever package streams it: tests/shop.py says what must be read of it.

const order = (id, number, more) => ({ id, name: 'find_order', args: { number, ...more } });

const STORY = {
  'Where is order 1042?': {
    text: 'Let me look. ',
    calls: [order('call_1', 1042, { fields: ['state', 'Größe 🙂'] })],
    then: 'Order 1042 has shipped 🙂.',
  },
  'What do you do?': { thought: 'They want a recital.', text: 'I look after orders – and nothing else 👩‍🚀.' },
  'My name is Åsa.': { text: 'Hello, Åsa.' },
  'Break.': { error: 'the model is overloaded' },

  'Break midway.': { text: 'Well, ', error: 'the model is overloaded' },
  'Tell me everything.': { text: 'It was a dark and', finish: 'length' },
  'Say when.': { text: 'One, two, three, four, five.', stops: true },
  'Compare 1042 with 7.': {
    calls: [order('call_1', 1042, { slow: true }), order('call_2', 7)],
    then: 'Both have shipped.',
  },
  'Where is order 0?': { calls: [order('call_1', 0)], then: 'There is none.' },
  'Where is my order?': { calls: [order('call_1', 'mine')], then: 'Which one?' },
  'Cancel order 1042.': { calls: [{ id: 'call_1', name: 'cancel_order', args: { number: 1042 } }] },
  'Where am I?': { calls: [{ id: 'call_1', name: 'locate', args: {} }] },
};

export const QUESTIONS = Object.keys(STORY);

/** What is said to messages of `{ role, text }`, by a model of that name: it knows only who was greeted in them. */
export function said(messages, model) {
  const talk = messages.filter(({ role }) => role === 'user' || role === 'assistant');
  const question = talk.findLast(({ role }) => role === 'user').text;
  if (question === 'What were you told?') {
    const told = messages.find(({ role }) => role === 'system');
    return { text: `${told ? told.text : 'Nothing.'} I am ${model}.` };
  }
  if (question !== 'What is my name?') return STORY[question];
  const [{ text: told }, { text: greeted }] = talk;
  const name = told.slice('My name is '.length, -1);
  return { text: greeted === `Hello, ${name}.` ? `You are ${name}.` : 'I do not know you.' };
}

/** A text cut every three UTF-16 units, as JavaScript cuts one: in the middle of an emoji, too. */
export const pieces = (text) => text.match(/[^]{1,3}/g) ?? [];

/** Says where this program listens, and ends it with the test that started it. */
export function ready(port) {
  console.log(port);
  process.stdin.on('end', () => process.exit()).resume();
}
