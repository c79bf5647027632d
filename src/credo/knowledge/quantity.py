"""P(…) in Python: quantities that are added and multiplied, and whose comparisons are statements."""

from __future__ import annotations

from collections.abc import Callable

from credo.knowledge import expressions
from credo.knowledge.comparison import Approximation, Comparison
from credo.knowledge.comparison_mistakes import Relation
from credo.knowledge.expressions import Expression, Linear, NotAnExpression, expression_text
from credo.knowledge.mistakes import PYTHON, KnowledgeError, KnowledgeTypeError, python_error
from credo.knowledge.names import checked_number
from credo.knowledge.parse import parse_event


class Quantity:
    """A sum or a product of probabilities, as `P` and arithmetic make it.

    Comparisons with `<=`, `<`, `>=`, `>` and `==` are statements. Python cannot chain them: write
    `P("x=a").between(0.1, 0.3)` instead of `0.1 <= P("x=a") <= 0.3`.

    Parameters
    ----------
    expression
        The sum or the product.

    Examples
    --------
    >>> import credo
    >>> 2 * credo.P("lung=yes | smoke=no") + 0.1
    2*P(lung=yes | smoke=no) + 0.1
    >>> print(credo.P("lung=yes | smoke=yes") >= 2 * credo.P("lung=yes | smoke=no"))
    P(lung=yes | smoke=yes) >= 2*P(lung=yes | smoke=no)
    """

    __slots__ = ("expression",)
    __array_ufunc__ = None  # numpy numbers leave the arithmetic to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    def __repr__(self) -> str:
        return expression_text(self.expression)

    def __bool__(self) -> bool:
        raise python_error("truth-value", repr(self), error=KnowledgeTypeError, instead='P("x=a").between(0.1, 0.3)')

    def __add__(self, other: Quantity | float) -> Quantity:
        return _combined(expressions.add, self, other, "+")

    def __radd__(self, other: Quantity | float) -> Quantity:
        return _combined(expressions.add, other, self, "+")

    def __sub__(self, other: Quantity | float) -> Quantity:
        return _combined(expressions.subtract, self, other, "-")

    def __rsub__(self, other: Quantity | float) -> Quantity:
        return _combined(expressions.subtract, other, self, "-")

    def __mul__(self, other: Quantity | float) -> Quantity:
        return _combined(expressions.multiply, self, other, "*")

    def __rmul__(self, other: Quantity | float) -> Quantity:
        return _combined(expressions.multiply, other, self, "*")

    def __truediv__(self, other: Quantity | float) -> Quantity:
        return _combined(expressions.divide, self, other, "/")

    def __rtruediv__(self, other: Quantity | float) -> Quantity:
        return _combined(expressions.divide, other, self, "/")

    def __pow__(self, other: object) -> Quantity:
        raise python_error("power", f"{self!r} ** {other!r}")

    def __neg__(self) -> Quantity:
        return Quantity(expressions.negate(self.expression))

    def __pos__(self) -> Quantity:
        return self

    def __le__(self, other: Quantity | float) -> Comparison:
        return _compared(self, "<=", other)

    def __lt__(self, other: Quantity | float) -> Comparison:
        return _compared(self, "<", other)

    def __ge__(self, other: Quantity | float) -> Comparison:
        return _compared(self, ">=", other)

    def __gt__(self, other: Quantity | float) -> Comparison:
        return _compared(self, ">", other)

    def __eq__(self, other: Quantity | float) -> Comparison:  # type: ignore[override]
        return _compared(self, "=", other)

    def __ne__(self, other: Quantity | float) -> Comparison:  # type: ignore[override]
        raise python_error("not-equal", f"{self!r} != {other!r}")

    def between(self, low: Quantity | float, high: Quantity | float) -> Comparison:
        """State that the quantity lies in a range: `low <= P(…) <= high`.

        Parameters
        ----------
        low, high : Quantity or float
            The bounds.

        Returns
        -------
        Comparison
            The statement.

        Examples
        --------
        >>> import credo
        >>> print(credo.P("smoke=yes").between(0.1, 0.3))
        0.1 <= P(smoke=yes) <= 0.3
        """
        return Comparison((_expression(low), self.expression, _expression(high)), ("<=", "<="))

    def near(self, other: Quantity | float, within: float) -> Approximation:
        """State that the quantity is about as large as another: `P(…) ~ P(…) within 0.05`.

        Parameters
        ----------
        other : Quantity or float
            What it is compared with.
        within : float
            By how much the two may differ, above 0 and up to 1.

        Returns
        -------
        Approximation
            The statement.

        Raises
        ------
        KnowledgeError
            If one of the two is a product.

        Examples
        --------
        >>> import credo
        >>> print(credo.P("tub=yes | asia=no").near(0.01, within=0.005))
        P(tub=yes | asia=no) ~ 0.01 within 0.005
        """
        left, right = self.expression, _expression(other)
        if not isinstance(left, Linear) or not isinstance(right, Linear):
            text = f"{expression_text(left)} ~ {expression_text(right)}"
            raise python_error("approximation-of-product", text)
        return Approximation(left, right, checked_number(within))


def P(event: str) -> Quantity:
    """A probability, written as inside P(…) in the language.

    Parameters
    ----------
    event : str
        `variable=state`, or `variable in {state, state}`, and after a bar states of parents. A parent that is not
        named stands for each of its states.

    Returns
    -------
    Quantity
        To be added, multiplied by numbers, and compared.

    Raises
    ------
    KnowledgeError
        If the text cannot be read.

    Examples
    --------
    >>> import credo
    >>> credo.P("lung=yes | smoke=yes")
    P(lung=yes | smoke=yes)
    >>> print(credo.P("severity in {moderate, severe}") <= 0.6)
    P(severity in {moderate, severe}) <= 0.6
    """
    if not isinstance(event, str):
        raise python_error("not-text", repr(event), what="P")
    return Quantity(Linear(((1.0, parse_event(event, PYTHON)),)))


def _compared(left: Quantity, relation: Relation, right: Quantity | float) -> Comparison:
    return Comparison((left.expression, _expression(right)), (relation,))


def _combined(
    operation: Callable[[Expression, Expression], Expression],
    left: Quantity | float,
    right: Quantity | float,
    sign: str,
) -> Quantity:
    first, second = _expression(left), _expression(right)
    try:
        return Quantity(operation(first, second))
    except NotAnExpression as error:
        raise _not_an_expression(error, first, sign, second) from None


def _not_an_expression(error: NotAnExpression, left: Expression, sign: str, right: Expression) -> KnowledgeError:
    return python_error(error.kind, f"{expression_text(left)} {sign} {expression_text(right)}")


def _expression(value: Quantity | float) -> Expression:
    return value.expression if isinstance(value, Quantity) else expressions.number(checked_number(value))
