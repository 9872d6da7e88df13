// Shows the answer as it is.

export { mount } from './answer.js';
