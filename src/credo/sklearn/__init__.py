"""credo's models as scikit-learn estimators, for pipelines, cross-validation and grid search: `credo[sklearn]`."""

from credo.errors import MissingExtraError

try:
    import sklearn  # noqa: F401
except ImportError:
    raise MissingExtraError("scikit-learn", "sklearn", "credo.sklearn") from None

from credo.sklearn.classifier import KnowledgeClassifier
from credo.sklearn.clustering import TiedClustering
from credo.sklearn.columns import UnseenValueWarning
from credo.sklearn.effects import DirectionResult
from credo.sklearn.network_target import ManyFeaturesWarning

__all__ = ["DirectionResult", "KnowledgeClassifier", "ManyFeaturesWarning", "TiedClustering", "UnseenValueWarning"]
